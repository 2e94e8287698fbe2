/** Prints the objects that the operator makes of its fixtures and the tickets that platforms are sent; `--write` puts them into their files. */
import { writeFileSync } from 'node:fs'
import { GOLDEN, goldenFiles as tickets } from '../dataplane/adapters/incident-platform/testing/golden-files.ts'
import { FIXTURES, goldenFiles as objects } from '../operator/desired/testing/golden-files.ts'

const write = process.argv.includes('--write')
for (const { folder, files } of [
  { folder: FIXTURES, files: objects() },
  { folder: GOLDEN, files: await tickets() },
])
  for (const [name, text] of Object.entries(files)) {
    if (write) writeFileSync(new URL(name, folder), text)
    else console.log(text)
  }
