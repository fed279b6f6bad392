/** Lets xterm.js style its elements in a page whose policy allows no styles in the markup. */

/**
 * The document for the option `documentOverride`. A style element becomes a constructed style sheet, and a style
 * attribute is set through the object model; the policy allows both.
 */
export function styledDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      if (name === 'createElement') return createElement;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** xterm.js makes the style of its scroll bar with the document of the window, whatever `documentOverride` says. */
export function openStyled(open: () => void): void {
  document.createElement = createElement;
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, 'createElement'); // That of the prototype is in its place again.
  }
}

function createElement(name: string): HTMLElement {
  if (name === 'style') return styleElement();
  const element = Document.prototype.createElement.call(document, name);
  if (name === 'span') element.setAttribute = setAttribute;
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** Stands where xterm.js puts its style element; its text becomes the sheet, which goes with the element. */
function styleElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const element = Document.prototype.createElement.call(document, 'template');
  Object.defineProperty(element, 'textContent', {
    set(text: string) {
      sheet.replaceSync(text);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
