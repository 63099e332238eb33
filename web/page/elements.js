// Short ways to make elements.

/** make('p', { class: 'help' }, 'text', child). Functions become listeners: { onclick: ... }. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Says it to screen readers, without moving the focus. */
export function announce(sentence) {
  byId('live').textContent = sentence;
}

/** A table with a caption; `rows` are lists of texts. Numbers stand right. */
export function tableOf(caption, header, rows) {
  return make(
    'table',
    {},
    make('caption', {}, caption),
    make('thead', {}, make('tr', {}, ...header.map((name) => make('th', { scope: 'col' }, name)))),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map((cell) => make('td', {}, cell))))),
  );
}

/** A button that copies a text, and then reads "Copied". */
export function copyButton(text, what) {
  const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
  button.setAttribute('aria-label', `Copy the ${what}`);
  button.addEventListener('click', async () => {
    const done = await copied(text());
    button.textContent = done ? 'Copied' : 'Not copied';
    announce(done ? `The ${what} is copied.` : `The browser does not allow to copy; select the ${what} and copy it.`);
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages from disk may lack the right; the old way needs a selection.
    const area = make('textarea', { class: 'offscreen' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
