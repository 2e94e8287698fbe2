/** This machine cannot run a back end; the message says why. Suites that need it are skipped with it. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** Exit code of `hack/backends up` for it (EX_UNAVAILABLE of sysexits.h). */
export const UNAVAILABLE_EXIT_CODE = 69
