/** Addresses of hosts that users configured, for adapters that open connections by themselves. */

export interface OutboundAddress {
  readonly address: string
  readonly family: 4 | 6
  /** Not in a private network, nor this machine. */
  readonly isPublic: boolean
}

export interface OutboundAddresses {
  /**
   * The addresses of a host name, or of an address; one at least, and each may be connected to at this port under the rules of `OutboundHttp`. Connect
   * to one of these: a second look-up may answer otherwise. Rejects with `TargetRefused` or `TargetUnreachable`.
   */
  resolve(host: string, port: number): Promise<readonly OutboundAddress[]>
}
