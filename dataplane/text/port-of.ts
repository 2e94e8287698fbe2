/** The port of an address of http or https, also where it stands for itself: `https://example.com` is 443. */
export function portOf({ protocol, port }: { readonly protocol: string; readonly port: string }): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}
