/** The style of the live views, which a page without inline styles adopts. */

const text = `
.live-page { max-width: 110rem; margin: 0 auto; padding: 1rem; }
.live-page header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.6rem; margin-bottom: 0.6rem; }
.live-page header h1 { margin: 0; font-size: 1.4rem; }
.live-page .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(16rem, 24rem); gap: 1rem; align-items: start; }
.live-page form { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 0 0 0.6rem; }
.live-page form input { flex: 1 1 6rem; min-width: 0; }
.live-page .tabs { display: flex; gap: 0.4rem; margin: 0 0 0.6rem; padding: 0.2rem; overflow-x: auto; list-style: none; }
.live-page .tabs li { display: flex; flex: 0 0 auto; max-width: 16rem; border: 1px solid var(--line); border-radius: 4px; }
.live-page .tabs button { border: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.live-page .tabs button[aria-current] { font-weight: bold; box-shadow: inset 0 -2px var(--link); }
.live-page details { margin-bottom: 0.8rem; border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem 0.6rem; }
.live-page summary { cursor: pointer; }
.live-page .rows { margin: 0.4rem 0 0; padding: 0; max-height: 22rem; overflow: auto; list-style: none; }
.live-page .rows li { display: flex; align-items: baseline; gap: 0.5rem; padding: 0.2em 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.live-page .rows ul { flex: 1 0 100%; padding-left: 0.8rem; list-style: none; }
.live-page .rows li:has(> ul) { flex-wrap: wrap; }
.live-page .rows :is(li li, li:has(> ul)) { border-bottom: 0; }
.live-page .rows li > button { white-space: normal; }
.live-page .rows li > :first-child { flex: 1; text-align: left; }
.live-page textarea { font: inherit; color: inherit; background: var(--code); border: 1px solid var(--line); border-radius: 4px; width: 100%; }
.live-page video { width: 100%; }
.live-picture { position: relative; margin: 0; }
.live-picture .frame { position: relative; border: 2px solid var(--line); border-radius: 4px; overflow: hidden; min-height: 8rem; background: var(--code); }
.live-picture .frame:focus-within { border-color: var(--link); }
.live-picture canvas { display: block; width: 100%; height: auto; cursor: default; }
.live-picture .live-keys { position: absolute; left: 0; bottom: 0; width: 1px; height: 1px; padding: 0; border: 0; opacity: 0; resize: none; }
.live-picture .note { margin: 0.3rem 0; }
@media (max-width: 60rem) { .live-page .columns { grid-template-columns: minmax(0, 1fr); } }
`;

let isAdopted = false;

/** Adds the style to the document once. */
export function adoptLiveStyle(): void {
  if (isAdopted) return;
  isAdopted = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
