/** Describes file inputs and what they hold. */
const boxkeep = globalThis.boxkeep;

boxkeep.fileInput = fileInput;
boxkeep.heldFiles = heldFiles;

/** The file input that the element is or labels. Any other element may open a file chooser. @param {Element} element */
function fileInput(element) {
  const input = (element instanceof HTMLLabelElement && element.control) || element;
  if (!(input instanceof HTMLInputElement) || input.type !== 'file') return { kind: 'other' };
  const described = boxkeep.describe(input);
  if (input.matches(':disabled')) return { kind: 'waiting', reason: 'disabled', element: described };
  const { multiple: takesSeveral, webkitdirectory: takesDirectory } = input;
  return { kind: 'input', number: boxkeep.numberOf(input), element: described, takesSeveral, takesDirectory };
}

/** @param {HTMLInputElement} input */
function heldFiles(input) {
  return { files: [...(input.files ?? [])].slice(0, 1000).map(({ name, size }) => ({ name, size })) };
}
