/** The page that asks for the password: without a script, and without anything to load. */

export interface LoginView {
  /** Where the form is sent. */
  readonly action: string
  /** Where the form leads. */
  readonly next: string
  readonly problem?: string
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#f6f7f9, #141619); color: light-dark(#1a1d21, #e4e7eb) }
  body { display: grid; place-items: center; min-height: 100vh; margin: 0 }
  main { box-sizing: border-box; width: min(24rem, 100vw - 2rem); padding: 2rem; border: 1px solid light-dark(#d9dde3, #33383f); border-radius: 0.5rem; background: light-dark(#fff, #1c1f24) }
  h1 { margin: 0 0 1.5rem; font-size: 1.25rem }
  label { display: block; margin-bottom: 1rem; font-weight: 500 }
  input { box-sizing: border-box; display: block; width: 100%; margin-top: 0.25rem; padding: 0.5rem 0.75rem; border: 1px solid light-dark(#767d87, #8a929d); border-radius: 0.375rem; background: transparent; color: inherit; font: inherit }
  button { width: 100%; padding: 0.6rem; border: 0; border-radius: 0.375rem; background: light-dark(#1864ab, #74c0fc); color: light-dark(#fff, #10202e); font: inherit; font-weight: 600; cursor: pointer }
  :focus-visible { outline: 2px solid light-dark(#1864ab, #74c0fc); outline-offset: 2px }
  .problem { margin: 0 0 1rem; padding: 0.5rem 0.75rem; border-radius: 0.375rem; background: light-dark(#ffe3e3, #4a1c1c); color: light-dark(#8f1d1d, #ffc9c9) }
`

export function loginPage({ action, next, problem }: LoginView): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in – logpipeline</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Log in to logpipeline</h1>
${problem === undefined ? '' : `<p class="problem" role="alert">${escaped(`${problem[0]!.toUpperCase()}${problem.slice(1)}`)}.</p>`}
<form method="post" action="${escaped(action)}">
<input type="hidden" name="next" value="${escaped(next)}">
<label>User name<input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button>
</form>
</main>
</body>
</html>
`
}

/** Requests the same path once more, now as a page of the dashboard. */
export const RELOAD_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>logpipeline</title></head><body></body></html>
`

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
