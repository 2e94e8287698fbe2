/** Prints the CRDs; `--write` puts them into crds/, and the tables of their fields into operator/README.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { crdFiles } from '../operator/api/testing/crd-files.ts'
import { REFERENCE_FILE, referenceText } from '../operator/api/testing/reference-file.ts'

const folder = new URL('../crds/', import.meta.url)

if (process.argv.includes('--write')) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(crdFiles())) writeFileSync(new URL(name, folder), text)
  writeFileSync(REFERENCE_FILE, referenceText())
} else console.log(Object.values(crdFiles()).join('---\n'))
