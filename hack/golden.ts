/** Prints the objects that the operator makes of its fixtures; `--write` puts them beside the fixtures. */
import { writeFileSync } from 'node:fs'
import { FIXTURES, goldenFiles } from '../operator/desired/testing/golden-files.ts'

for (const [name, text] of Object.entries(goldenFiles())) {
  if (process.argv.includes('--write')) writeFileSync(new URL(name, FIXTURES), text)
  else console.log(text)
}
