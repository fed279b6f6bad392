/** Reports the next change of a document, so that a wait looks again only when there is something new. */
const boxkeep = (globalThis.boxkeep ??= {});
boxkeep.changed = changed;

/** Changes come in groups; the answer waits for the end of a group. */
const settleMs = 20;

/** Resolves after a change of the document, at the latest after `maxMs`. */
function changed({ maxMs }) {
  return new Promise((resolve) => {
    let settling = null;
    const finish = () => {
      observer.disconnect();
      clearTimeout(settling);
      clearTimeout(limit);
      resolve(null);
    };
    const observer = new MutationObserver(() => (settling ??= setTimeout(finish, settleMs)));
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const limit = setTimeout(finish, maxMs);
  });
}
