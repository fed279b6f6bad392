/** Receives the calls of the daemon in the isolated world of a document. */
const boxkeep = globalThis.boxkeep;

/**
 * Calls `boxkeep[name](argument)`, or `boxkeep[name](element, argument)` for the number of an element.
 * @param {string} name
 * @param {unknown} argument
 * @param {number} [number]
 * @returns {Promise<string>} JSON of `{value}`, or of `{isStale: true}` when the element has gone
 */
boxkeep.answer = async (name, argument, number) => {
  if (number === undefined) return JSON.stringify({ value: await boxkeep[name](argument) });
  const node = boxkeep.elementOf(number);
  if (node === null) return '{"isStale":true}';
  // The pointer reaches a text itself; everything else is done with the element that holds the text.
  const element = name === 'actionable' ? node : boxkeep.dom.elementOf(node);
  return JSON.stringify({ value: await boxkeep[name](element, argument) });
};
