/** Files that are imported for their text. */
declare module '*.py' {
  const text: string;
  export default text;
}
