/** Lets xterm.js style its elements in a page whose policy allows no styles in the markup. */

/**
 * From now on, the text of a style element becomes a constructed style sheet, and a style attribute of a span is set
 * through the object model; the policy allows both. The option `documentOverride` does not reach the rows and the
 * scroll bar. Returns what ends it.
 */
export function styleThroughObjects(): () => void {
  document.createElement = createElement;
  return () => Reflect.deleteProperty(document, 'createElement'); // That of the prototype is in its place again.
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
