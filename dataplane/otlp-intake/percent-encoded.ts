/** Longest message sent in a header; browsers and proxies limit header blocks to 8 KiB. */
const MAX_MESSAGE_LENGTH = 1_000
const PRINTABLE = /%(2[0-46-9A-F]|3[A-F]|40|5[B-E]|60|7[B-D])/g

/** `grpc-message`: printable ASCII stays as it is (the gRPC protocol), since some clients show what they get. */
export function percentEncoded(message: string): string {
  const encoded = encodeURIComponent(message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed())
  return encoded.replace(PRINTABLE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
