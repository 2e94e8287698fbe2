import { BACKENDS, type BackendName } from './backends.ts'

/** How tests reach a back end: what `npm run test:real` says, else where `hack/backends up` starts it. */
export function backendAddress(name: BackendName): string {
  return process.env[addressVariable(name)] ?? BACKENDS[name].address()
}

export const addressVariable = (name: BackendName) => `REAL_${name.toUpperCase().replaceAll('-', '_')}`
