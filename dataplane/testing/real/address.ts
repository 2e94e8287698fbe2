import { BACKENDS, type BackendName } from './backends.ts'

/** How tests reach a back end: what `npm run test:real` says, else where `hack/backends up` starts it. */
export function backendAddress(name: BackendName): string {
  return process.env[addressVariable(name)] ?? BACKENDS[name].address()
}

export const addressVariable = (name: BackendName) => `REAL_${name.toUpperCase().replaceAll('-', '_')}`

/** Whether tests have the back end that `hack/backends` starts: one of somebody else is not theirs to stop, to fill or to clear. */
export const isOwnBackend = (name: BackendName) => backendAddress(name) === BACKENDS[name].address()
