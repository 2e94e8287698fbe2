/** Prints the table of settings; `--write` puts it between the markers in docs/settings.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { settingsTable } from '../dataplane/config/settings-table.ts'

const page = new URL('../docs/settings.md', import.meta.url)
const MARKED = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/

if (process.argv.includes('--write')) {
  const text = readFileSync(page, 'utf8')
  if (!MARKED.test(text)) throw new Error('docs/settings.md has no <!-- settings --> … <!-- /settings -->')
  writeFileSync(
    page,
    text.replace(MARKED, (_all, begin: string, end: string) => `${begin}${settingsTable()}\n${end}`),
  )
} else console.log(settingsTable())
