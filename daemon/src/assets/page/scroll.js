/** Scrolls the document, or the largest part that scrolls where the document does not, by a distance in pixels. */
const boxkeep = globalThis.boxkeep;
const { dom, shadowRootOf } = boxkeep;
boxkeep.scroll = scroll;

/** A page adds what a scroll reveals in the next frame. A tab in the background draws none. */
const maxFrameMs = 200;
/** A page with more elements is searched in part. */
const maxElements = 20_000;

/** `amount` of null is the height of the part. @param {{amount: number | null}} argument */
async function scroll({ amount }) {
  const page = document.scrollingElement ?? dom.documentElement();
  // A script may have removed the root element.
  if (page === null) return { pixels: 0, isAtEnd: true };
  const part = scrollablePart(page);
  const before = part.scrollTop;
  part.scrollBy({ top: amount ?? part.clientHeight, behavior: 'instant' });
  const drawn = new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await Promise.race([drawn, new Promise((resolve) => setTimeout(resolve, maxFrameMs))]);
  const isAtEnd = part.scrollHeight - part.scrollTop - part.clientHeight <= 1;
  return { pixels: Math.round(part.scrollTop - before), isAtEnd };
}

function scrollablePart(page) {
  if (page.scrollHeight > page.clientHeight + 1) return page;
  const view = { width: innerWidth, height: innerHeight };
  let best = page;
  let bestArea = 0;
  let count = 0;
  const search = (root) => {
    for (const element of elementsIn(root)) {
      if (++count > maxElements) return;
      const shadow = shadowRootOf(element);
      if (shadow !== null) search(shadow);
      if (element.scrollHeight <= element.clientHeight + 1) continue;
      const area = areaIn(view, dom.boxOf(element));
      if (area > bestArea && /auto|scroll/.test(getComputedStyle(element).overflowY))
        [best, bestArea] = [element, area];
    }
  };
  search(document);
  return best;
}

function areaIn({ width, height }, { left, right, top, bottom }) {
  return (
    Math.max(0, Math.min(width, right) - Math.max(0, left)) * Math.max(0, Math.min(height, bottom) - Math.max(0, top))
  );
}

function elementsIn(root) {
  return root === document ? document.getElementsByTagName('*') : root.querySelectorAll('*');
}
