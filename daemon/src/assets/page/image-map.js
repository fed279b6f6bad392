/** Finds where on its image an area of an image map is. */
const boxkeep = globalThis.boxkeep;
const { dom } = boxkeep;

boxkeep.imageOf = imageOf;
boxkeep.areaRects = areaRects;
boxkeep.placesInArea = placesInArea;

/** Points of a grid within the box of a shape, which a polygon may leave out in its middle. */
const gridSize = 12;

/** The image that shows the map of the area, or null. @param {HTMLAreaElement} area */
function imageOf(area) {
  const map = dom.closest(area, 'map');
  const name = map && dom.attribute(map, 'name');
  if (!name) return null;
  const images = dom.rootOf(area).querySelectorAll('img[usemap]');
  return [...images].find((image) => dom.attribute(image, 'usemap') === `#${name}` && image.width > 0) ?? null;
}

/** Chromium counts the coordinates from the border of the image, before a transform. @param {HTMLAreaElement} area */
function areaRects(area) {
  const image = imageOf(area);
  if (image === null) return [];
  const box = dom.boxOf(image);
  const scale = { x: box.width / image.offsetWidth, y: box.height / image.offsetHeight };
  const [left, top, right, bottom] = boundsOf(area, image.offsetWidth, image.offsetHeight);
  const [x, y] = [Math.max(left, 0), Math.max(top, 0)];
  const width = Math.min(right, image.offsetWidth) - x;
  const height = Math.min(bottom, image.offsetHeight) - y;
  return [new DOMRect(box.left + x * scale.x, box.top + y * scale.y, width * scale.x, height * scale.y)];
}

function coordinatesOf(area) {
  return (dom.attribute(area, 'coords') ?? '')
    .split(/[\s,;]+/)
    .map(Number)
    .filter(Number.isFinite);
}

function boundsOf(area, width, height) {
  const values = coordinatesOf(area);
  const [x = 0, y = 0, third = 0, fourth = 0] = values;
  switch (area.shape.toLowerCase()) {
    case 'default':
      return [0, 0, width, height];
    case 'circle':
    case 'circ':
      return [x - third, y - third, x + third, y + third];
    case 'poly':
    case 'polygon': {
      const xs = values.filter((_, index) => index % 2 === 0);
      const ys = values.filter((_, index) => index % 2 === 1);
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    }
    default:
      return [Math.min(x, third), Math.min(y, fourth), Math.max(x, third), Math.max(y, fourth)];
  }
}

/** @param {HTMLAreaElement} area */
function placesInArea(area) {
  const [box] = areaRects(area);
  if (box === undefined) return [];
  const shares = Array.from({ length: gridSize }, (_, index) => (index + 0.5) / gridSize);
  return shares.flatMap((down) =>
    shares.map((across) => ({ x: box.left + box.width * across, y: box.top + box.height * down })),
  );
}
