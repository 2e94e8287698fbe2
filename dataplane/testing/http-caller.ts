/** Short calls to a JSON API under test. */
export interface JsonAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  readonly body: any
}

export interface HttpCaller {
  get(path: string, tenant?: string): Promise<JsonAnswer>
  send(method: string, path: string, body?: unknown, tenant?: string): Promise<JsonAnswer>
}

export function createCaller(baseUrl: string): HttpCaller {
  async function call(method: string, path: string, body: unknown, tenant: string | undefined): Promise<JsonAnswer> {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(tenant === undefined ? {} : { 'x-service-tenant-id': tenant }),
    }
    const response = await fetch(baseUrl + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    get: (path, tenant) => call('GET', path, undefined, tenant),
    send: (method, path, body, tenant) => call(method, path, body, tenant),
  }
}
