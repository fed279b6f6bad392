/** The methods of AT-SPI and of the bus that the accessibility routes call, with the types of their answers. */
import type { DbusMethod, DbusObject } from '../../../platform/dbus/connection.ts';
import type { DbusValue } from '../../../platform/dbus/marshal.ts';

/** A reference to an object: the name of its connection, and its path. */
export type Reference = readonly [string, string];

/** Object, application, parent, index in the parent, number of children, interfaces, name, role, description, states. */
export type CacheItem = readonly [
  Reference,
  Reference,
  Reference,
  number,
  number,
  readonly string[],
  string,
  number,
  string,
  readonly number[],
];

/** Name, description and value of each property. */
export type Properties = readonly (readonly [string, DbusValue])[];

const atspi = 'org.a11y.atspi';

function method<Answer extends readonly DbusValue[]>(
  name: string,
  member: string,
  takes: string,
  returns: string,
): DbusMethod<Answer> {
  return { interface: name, member, takes, returns };
}

const properties = 'org.freedesktop.DBus.Properties';
export const getProperty = method<[DbusValue]>(properties, 'Get', 'ss', 'v');
export const getProperties = method<[Properties]>(properties, 'GetAll', 's', 'a{sv}');
export const setProperty = method<[]>(properties, 'Set', 'ssv', '');

const bus = 'org.freedesktop.DBus';
export const processIdOf = method<[number]>(bus, 'GetConnectionUnixProcessID', 's', 'u');

export const accessibilityAddress = method<[string]>('org.a11y.Bus', 'GetAddress', '', 's');
export const registerEvent = method<[]>(`${atspi}.Registry`, 'RegisterEvent', 'sass', '');
export const cacheItems = method<[readonly CacheItem[]]>(`${atspi}.Cache`, 'GetItems', '', 'a((so)(so)(so)iiassusau)');

export const interfaces = {
  accessible: `${atspi}.Accessible`,
  action: `${atspi}.Action`,
  component: `${atspi}.Component`,
  editableText: `${atspi}.EditableText`,
  text: `${atspi}.Text`,
  value: `${atspi}.Value`,
  status: 'org.a11y.Status',
};

export const getChildren = method<[readonly Reference[]]>(interfaces.accessible, 'GetChildren', '', 'a(so)');
export const getChildAt = method<[Reference]>(interfaces.accessible, 'GetChildAtIndex', 'i', '(so)');
export const getIndex = method<[number]>(interfaces.accessible, 'GetIndexInParent', '', 'i');
export const getRole = method<[number]>(interfaces.accessible, 'GetRole', '', 'u');
export const getStates = method<[readonly number[]]>(interfaces.accessible, 'GetState', '', 'au');
export const getInterfaces = method<[readonly string[]]>(interfaces.accessible, 'GetInterfaces', '', 'as');

type Extents = readonly [number, number, number, number];
export const getExtents = method<[Extents]>(interfaces.component, 'GetExtents', 'u', '(iiii)');
export const getObjectAt = method<[Reference]>(interfaces.component, 'GetAccessibleAtPoint', 'iiu', '(so)');
export const grabFocus = method<[boolean]>(interfaces.component, 'GrabFocus', '', 'b');

/** Name, description and key binding of each action. */
type Actions = readonly (readonly [string, string, string])[];
export const getActions = method<[Actions]>(interfaces.action, 'GetActions', '', 'a(sss)');
/** `GetActions` of ATK has the names for people, which Chromium does not give. */
export const getActionName = method<[string]>(interfaces.action, 'GetName', 'i', 's');
export const doAction = method<[boolean]>(interfaces.action, 'DoAction', 'i', 'b');

export const getText = method<[string]>(interfaces.text, 'GetText', 'ii', 's');
export const setText = method<[boolean]>(interfaces.editableText, 'SetTextContents', 's', 'b');

export const busDriver: DbusObject = { bus, path: '/org/freedesktop/DBus' };
export const accessibilityLauncher: DbusObject = { bus: 'org.a11y.Bus', path: '/org/a11y/bus' };
export const registry: DbusObject = { bus: `${atspi}.Registry`, path: '/org/a11y/atspi/registry' };
/** Its children are the applications. */
export const registryRoot: DbusObject = { bus: `${atspi}.Registry`, path: '/org/a11y/atspi/accessible/root' };
/** The path of the object that stands for a whole application. */
export const applicationPath = '/org/a11y/atspi/accessible/root';
export const cachePath = '/org/a11y/atspi/cache';
/** The path of a reference to nothing. */
export const nullPath = '/org/a11y/atspi/null';
/** The coordinates of `GetExtents` are those of the screen. */
export const screenCoordinates = 0;
