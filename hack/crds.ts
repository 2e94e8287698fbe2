/** Prints the CRDs; `--write` puts them into crds/. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { crdFiles } from './operator/crd-files.ts'

const folder = new URL('../crds/', import.meta.url)

for (const [name, text] of Object.entries(crdFiles())) {
  if (process.argv.includes('--write')) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL(name, folder), text)
  } else console.log(text)
}
