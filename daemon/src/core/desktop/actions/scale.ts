/** Converts the coordinates of an action from the picture that a model saw to the screen. */
import type { Size, Point } from '../../../kit/types/geometry.ts';
import type { Area, DesktopAction, Target } from './action.ts';

/** Wheel notches, waits and texts stay as they are. */
export function scaleAction(action: DesktopAction, picture: Size, screen: Size): DesktopAction {
  const scale: Point = { x: screen.width / picture.width, y: screen.height / picture.height };
  switch (action.type) {
    case 'move':
      return { ...action, to: scalePoint(action.to, scale) };
    case 'moveBy':
    case 'dragBy':
      return { ...action, by: scalePoint(action.by, scale) };
    case 'click':
    case 'mouseDown':
    case 'mouseUp':
    case 'scroll':
      return { ...action, at: scaleTarget(action.at, scale) };
    case 'drag':
      return { ...action, path: action.path.map((point) => scalePoint(point, scale)) };
    case 'screenshot':
      return { ...action, area: action.area && scaleArea(action.area, scale) };
    default:
      return action;
  }
}

/** The position on the screen as a position in the picture. */
export function positionIn(picture: Size, screen: Size, { x, y }: Point): Point {
  return { x: Math.floor((x * picture.width) / screen.width), y: Math.floor((y * picture.height) / screen.height) };
}

function scalePoint({ x, y }: Point, scale: Point): Point {
  return { x: x * scale.x, y: y * scale.y };
}

function scaleTarget({ x, y }: Target, scale: Point): Target {
  return { x: x === null ? null : x * scale.x, y: y === null ? null : y * scale.y };
}

function scaleArea({ x, y, width, height }: Area, scale: Point): Area {
  return { x: x * scale.x, y: y * scale.y, width: width * scale.x, height: height * scale.y };
}
