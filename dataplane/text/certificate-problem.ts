/** In the words of Node, which nodemailer keeps where it replaces the code of an error. */
const PROBLEMS: readonly (readonly [words: RegExp, says: (words: string) => string])[] = [
  [
    /^certificate (has expired|is not yet valid)/,
    words => `${words}: it has to be renewed there, unless the clock of this machine is wrong`,
  ],
  [/^certificate revoked/, words => `${words}: the server needs another`],
  [/^Hostname\/IP does not match certificate/, words => `the certificate is for another name (${words}): configure a name that it is for`],
  [
    /^(self-signed certificate|unable to (get|verify)\b.*\bcertificate)/,
    words =>
      `the certificate is of an authority that is not trusted here (${words}): a PEM file that NODE_EXTRA_CA_CERTS names makes further ones trusted`,
  ],
]

/** The problem of a server's certificate, and the way to mend it, for people; undefined for an error of another kind. */
export function certificateProblem(message: string): string | undefined {
  const says = PROBLEMS.find(([words]) => words.test(message))?.[1]
  // The rest is advice on Node's own options.
  return says?.(message.split('; if the root CA ', 1)[0]!)
}
