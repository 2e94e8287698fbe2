/** Where senders outside find the gateway. The dashboard's page says its port where both are one process. */
const USUAL_PORT = '8443'
const told = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="gateway-port"]')?.content ?? ''

/** False: the gateway runs elsewhere, and the address is a guess. */
export const KNOWS_GATEWAY = told !== ''

export const GATEWAY_PORT = KNOWS_GATEWAY ? told : USUAL_PORT
