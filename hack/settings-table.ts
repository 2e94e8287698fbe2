/** Prints the README's table of settings; `--write` puts it between the markers in README.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { settingsTable } from '../dataplane/config/settings-table.ts'

const readme = new URL('../README.md', import.meta.url)
const MARKED = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/

if (process.argv.includes('--write')) {
  const text = readFileSync(readme, 'utf8')
  if (!MARKED.test(text)) throw new Error('README.md has no <!-- settings --> … <!-- /settings -->')
  writeFileSync(
    readme,
    text.replace(MARKED, (_all, begin: string, end: string) => `${begin}${settingsTable()}\n${end}`),
  )
} else console.log(settingsTable())
