export const STYLE: string = `
:root {
  color-scheme: light dark;
  --ink: #1a1d21; --soft: #4d545c; --page: #f6f7f8; --card: #ffffff; --line: #868e96;
  --hair: #d5d9dd; --link: #0b57a4; --accent: #0b57a4; --on-accent: #ffffff;
  --danger: #a31621; --on-danger: #ffffff; --good: #14663a;
  --untrusted: #5b2a86; --untrusted-ground: #f5effa; --focus: #b35900;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8eaed; --soft: #b4bac1; --page: #14171a; --card: #1d2126; --line: #7d858e;
    --hair: #363c43; --link: #8ec2ff; --accent: #8ec2ff; --on-accent: #0c1a2a;
    --danger: #ff9a9a; --on-danger: #2b0709; --good: #7fd6a2;
    --untrusted: #d9bdf5; --untrusted-ground: #2a2233; --focus: #ffb35c;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0; color: var(--ink); background: var(--page); overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--card); }
.skip:focus { left: .5rem; top: .5rem; z-index: 1; }
header, footer, main { max-width: 48rem; margin: 0 auto; padding: 0 1rem; }
.bar { background: var(--card); border-bottom: 1px solid var(--hair); }
.bar header { padding-block: .75rem .25rem; }
.bar .name { font-weight: 600; margin: 0; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: .4rem 0; text-decoration: none; border-bottom: 3px solid transparent; }
nav a:hover { text-decoration: underline; }
nav a[aria-current] { border-color: var(--accent); font-weight: 600; }
main { padding-block: 1.25rem 2.5rem; }
footer { padding-block: 1rem 2rem; color: var(--soft); border-top: 1px solid var(--hair); }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 0 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
h4 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: 0 0 .75rem; }
.card > h3:first-child, .notice > h3:first-child, p + h3 { margin-top: 0; }
.card, fieldset.card {
  background: var(--card); border: 1px solid var(--hair); border-radius: .5rem;
  padding: 1rem; margin: 0 0 1rem; min-width: 0;
}
ul.cards { list-style: none; margin: 0; padding: 0; }
dl { display: grid; grid-template-columns: minmax(7rem, 11rem) 1fr; gap: .35rem 1rem; margin: 0 0 .75rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; }
dd ul { margin: 0; padding-left: 1.2rem; }
.untrusted { color: var(--untrusted); background: var(--untrusted-ground); padding: 0 .2em; border-radius: .2em; }
.untrusted .escape { font: .85em ui-monospace, monospace; border: 1px solid currentcolor; border-radius: .2em; padding: 0 .15em; }
.value { font-weight: 600; }
.note { color: var(--soft); font-size: .9rem; }
.stamp { font-weight: 600; }
.good { color: var(--good); }
.bad { color: var(--danger); }
form { margin: 0; }
fieldset { border: 1px solid var(--hair); border-radius: .5rem; margin: 0 0 1rem; padding: .75rem 1rem; min-width: 0; }
legend { font-weight: 600; padding: 0 .3rem; }
label { display: block; margin: 0 0 .15rem; }
.field { margin: 0 0 .85rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); gap: 0 1rem; }
.tick { display: grid; grid-template-columns: auto 1fr; gap: .5rem; align-items: baseline; margin: 0 0 .4rem; }
.tick label { margin: 0; }
input[type="text"], input[type="number"], input[type="password"], textarea, select {
  font: inherit; color: inherit; background: var(--page); width: 100%;
  border: 1px solid var(--line); border-radius: .3rem; padding: .45rem .6rem;
}
input[type="checkbox"], input[type="radio"] { width: 1.1rem; height: 1.1rem; accent-color: var(--accent); }
textarea { min-height: 4.5rem; resize: vertical; }
.code input { font: 1.5rem ui-monospace, monospace; letter-spacing: .15em; text-transform: uppercase; max-width: 15rem; }
input[aria-invalid="true"], textarea[aria-invalid="true"] { border: 2px solid var(--danger); }
.wrong { color: var(--danger); font-weight: 600; margin: 0 0 .15rem; }
.hint { color: var(--soft); font-size: .9rem; margin: 0 0 .2rem; }
.summary { border: 3px solid var(--danger); border-radius: .5rem; background: var(--card); padding: 1rem; margin: 0 0 1rem; }
.summary ul { margin: 0; padding-left: 1.2rem; }
.notice { border: 3px solid var(--accent); border-radius: .5rem; background: var(--card); padding: 1rem; margin: 0 0 1rem; }
.notice > :last-child, .summary > :last-child, .card > :last-child { margin-bottom: 0; }
.warning { border-left: .4rem solid var(--danger); padding: .25rem .75rem; margin: 0 0 1rem; }
.card.warning { border-left-width: .4rem; border-left-color: var(--danger); padding: 1rem; }
ul.asked { margin: 0 0 .75rem; padding-left: 1.2rem; }
ul.asked li { margin: 0 0 .25rem; }
ul.entries { list-style: none; margin: 0; padding: 0; }
ul.entries > li { border-top: 1px solid var(--hair); padding: .75rem 0; }
ul.entries > li:last-child { padding-bottom: 0; }
.default { position: absolute; left: -100rem; }
button, .button {
  font: inherit; font-weight: 600; cursor: pointer; border-radius: .35rem; padding: .55rem 1.1rem; min-height: 2.75rem;
  border: 2px solid var(--accent); color: var(--accent); background: transparent; text-decoration: none; display: inline-block;
}
button.main, .button.main { background: var(--accent); color: var(--on-accent); }
button.stop { border-color: var(--danger); color: var(--danger); }
button.stop.main { background: var(--danger); color: var(--on-danger); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
details { margin: 0 0 .85rem; }
summary { cursor: pointer; padding: .3rem 0; font-weight: 600; }
.secret { font: 1rem ui-monospace, monospace; display: block; padding: .6rem; background: var(--page); border: 1px dashed var(--line); user-select: all; }
@media (max-width: 34rem) {
  dl { grid-template-columns: minmax(5rem, 7rem) 1fr; gap: .2rem .75rem; }
  button, .button { width: 100%; text-align: center; }
  .buttons { flex-wrap: nowrap; margin-block: .5rem 1rem; }
  main { padding-block: .75rem 2rem; }
  h1 { font-size: 1.4rem; margin-bottom: .5rem; }
  .card { padding: .75rem; margin-bottom: .75rem; }
}
@media (max-width: 21rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin: 0 0 .5rem; }
}
@media (prefers-contrast: more) { :root { --soft: var(--ink); --hair: var(--ink); } }
@media print { nav, form .buttons, .skip { display: none; } }
`;
