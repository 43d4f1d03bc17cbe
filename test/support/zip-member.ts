import { deflateRawSync } from 'node:zlib'

/** A zip archive of one member without its directory, as who reads from the front sees it: with its sizes behind it. */
export function zipMember(content: Buffer | string): Buffer {
  const head = Buffer.alloc(30)
  head.write('PK\u0003\u0004', 'latin1')
  head.writeUInt16LE(8, 8)
  head.writeUInt16LE(9, 26)
  return Buffer.concat([head, Buffer.from('debug.log'), deflateRawSync(content)])
}
