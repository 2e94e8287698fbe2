import { stringify } from 'yaml'
import { buildCustomResourceDefinition, KINDS } from '../crd.ts'

const HEADING = '# Made by hack/crds.ts from operator/api; change it there.\n'

/** File name → text of each CRD. */
export function crdFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    KINDS.map(kind => {
      const crd = buildCustomResourceDefinition(kind)
      return [`${crd.metadata.name.split('.')[0]}.yaml`, HEADING + stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false })]
    }),
  )
}
