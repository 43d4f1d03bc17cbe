// Signatures of ECDSA: JWS writes both numbers one behind the other (RFC 7518, 3.4), X.509 as a sequence of two integers (RFC 3279, 2.2.3).
// node:crypto takes the second without options, and options cost a third of a check.

const SEQUENCE = 0x30
const INTEGER = 0x02
/** Lengths from here on are written in a byte of their own, behind one that says so. */
const LONG_LENGTH = 0x80

/** @param signature both numbers, each as long as the order of its curve, 66 bytes at most */
export function toDerSignature(signature: Uint8Array): Buffer {
  const half = signature.length / 2
  const body = Buffer.concat([toInteger(signature.subarray(0, half)), toInteger(signature.subarray(half))])
  const length = body.length < LONG_LENGTH ? [body.length] : [LONG_LENGTH + 1, body.length]
  return Buffer.concat([Buffer.from([SEQUENCE, ...length]), body])
}

/** Without zeros in front, but for the one that keeps a high bit from being read as a sign. */
function toInteger(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first < 0 ? Uint8Array.of(0) : bytes.subarray(first)
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : []
  return Buffer.concat([Buffer.from([INTEGER, sign.length + digits.length, ...sign]), digits])
}
