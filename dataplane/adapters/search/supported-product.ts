/** Which search stores the product works with. */

/** The first with `flat_object`, in which the custom attributes stand that have no field of their own. */
const LEAST = { major: 2, minor: 7 }

/** The reason why a store of this name and version cannot be used; undefined when it can. */
export function unsupportedProduct(distribution: string | undefined, version: string): string | undefined {
  const supported = `supported are OpenSearch ${LEAST.major}.${LEAST.minor} and later (tested with 3.5.0), and logpipeline's own store`
  if (distribution !== 'opensearch') return `${distribution ?? 'something that is not OpenSearch'} ${version}; ${supported}`
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isSupported = major > LEAST.major || (major === LEAST.major && minor >= LEAST.minor)
  return isSupported ? undefined : `OpenSearch ${version}; ${supported}`
}
