// The questions, as a form that is made from the table of fields.

import { byId, make } from './elements.js';
import { fields, isShown, mostCharacters } from './fields.js';

const rows = new Map();

/** onChange(name, value) is called for every change of a field, onFile(file) for a file that is chosen or dropped. */
export function makeForm(state, onChange, onFile) {
  for (const field of fields) {
    const row = { choice: choiceRow, check: checkRow, text: textRow, file: fileRow }[field.type](field, onChange, onFile);
    rows.set(field.name, row);
    byId('questions').append(row.element);
  }
  byId('questions').addEventListener('submit', (event) => event.preventDefault());
  showState(state);
}

/** Values of all fields, and which of them are there. */
export function showState(state) {
  for (const field of fields) {
    const row = rows.get(field.name);
    row.element.hidden = !isShown(field, state);
    row.show?.(state[field.name], state);
  }
}

/** The sentences beside fields; no sentence for a field that is right. */
export function showErrors(errors) {
  for (const field of fields) {
    const { error, inputs } = rows.get(field.name);
    const sentence = errors[field.name] ?? '';
    if (error.textContent !== sentence) error.textContent = sentence;
    for (const input of inputs) input.setAttribute('aria-invalid', String(sentence !== ''));
  }
}

const helpOf = (field) => make('p', { class: 'help', id: `${field.name}-help` }, field.help);
const errorOf = (field) => make('p', { class: 'error', id: `${field.name}-error`, role: 'alert' });
const described = (field) => ({ 'aria-describedby': `${field.name}-error ${field.name}-help` });

function choiceRow(field, onChange) {
  const inputs = field.options.map(([value]) =>
    make('input', { type: 'radio', name: field.name, value, id: `${field.name}-${value}`, onchange: () => onChange(field.name, value) }),
  );
  const labels = field.options.map(([, text], i) => make('label', { class: 'option' }, inputs[i], ` ${text}`));
  const error = errorOf(field);
  return {
    element: make('fieldset', { class: `field choice ${field.name}`, ...described(field) }, make('legend', {}, field.label), make('div', { class: 'options' }, ...labels), error, helpOf(field)),
    inputs,
    error,
    show: (value) => inputs.forEach((input) => (input.checked = input.value === value)),
  };
}

function checkRow(field, onChange) {
  const input = make('input', { type: 'checkbox', id: field.name, ...described(field), onchange: () => onChange(field.name, input.checked) });
  const error = errorOf(field);
  return {
    element: make('div', { class: 'field check' }, make('label', { class: 'option' }, input, ` ${field.label}`), error, helpOf(field)),
    inputs: [input],
    error,
    show: (value) => (input.checked = value),
  };
}

function textRow(field, onChange) {
  const input = make('input', {
    type: 'text', id: field.name, autocomplete: 'off', spellcheck: 'false', maxlength: mostCharacters(field), ...described(field),
    oninput: () => onChange(field.name, input.value),
  });
  const error = errorOf(field);
  return {
    element: make('div', { class: 'field' }, make('label', { for: field.name }, field.label), make('span', { class: 'with-unit' }, input, make('span', { class: 'unit' }, field.unit)), error, helpOf(field)),
    inputs: [input],
    error,
    show: (value) => {
      if (input.value !== value) input.value = value;
    },
  };
}

function fileRow(field, onChange, onFile) {
  const input = make('input', {
    type: 'file', id: field.name, ...described(field),
    onclick: () => (input.value = ''), // so that the same file can be chosen again
    onchange: () => {
      if (input.files[0]) onFile(input.files[0]);
    },
  });
  const progress = make('progress', { max: 1, value: 0, 'aria-label': 'How much of the file is counted' });
  const told = make('p', { class: 'told' }, 'No file is counted yet.');
  const error = errorOf(field);
  const element = make('div', { class: 'field file' }, make('label', { for: field.name }, field.label), input, progress, told, error, helpOf(field));
  for (const type of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    element.addEventListener(type, (event) => {
      event.preventDefault();
      element.classList.toggle('over', type === 'dragenter' || type === 'dragover');
    });
  }
  element.addEventListener('drop', (event) => {
    const [file] = event.dataTransfer.files;
    if (file) onFile(file);
  });
  return { element, inputs: [input], error, progress, told };
}

export function showFile(share, sentence) {
  const { progress, told } = rows.get('file');
  progress.value = share;
  told.textContent = sentence;
}
