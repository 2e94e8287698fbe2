/** The header `authorization` of Basic authentication (RFC 7617). */
export const basicAuthorization = (username: string, password: string): string => `Basic ${basicCredentials(username, password)}`

/** User and password as that header holds them: who reads them knows the password. */
export const basicCredentials = (username: string, password: string): string => Buffer.from(`${username}:${password}`).toString('base64')
