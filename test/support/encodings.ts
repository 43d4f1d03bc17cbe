// The ways a secret shows up in a text, written down for the tests alone: what the gateway's own gate knows is what is
// under test. Each is bytes to search for, with base64 cut at its alignments so that a secret in the middle is found.
export function encodingsOf(secret: string): Map<string, Buffer> {
  const found = new Map<string, Buffer>()
  for (const [charset, bytes] of [
    ['utf8', Buffer.from(secret, 'utf8')],
    ['latin1', Buffer.from(secret, 'latin1')],
  ] as const) {
    const add = (name: string, text: string | Buffer) =>
      found.set(`${charset} ${name}`, Buffer.from(text as string))
    const each = (render: (byte: number) => string) => [...bytes].map(render).join('')
    const hex = (byte: number) => byte.toString(16).padStart(2, '0')
    add('raw', bytes)
    add('hex', bytes.toString('hex'))
    add('HEX', bytes.toString('hex').toUpperCase())
    add(
      'percent, every byte',
      each((byte) => `%${hex(byte)}`),
    )
    add(
      'PERCENT, every byte',
      each((byte) => `%${hex(byte).toUpperCase()}`),
    )
    add(
      '\\x',
      each((byte) => `\\x${hex(byte)}`),
    )
    add('reversed', Buffer.from(bytes.toReversed()))
    for (const shift of [0, 1, 2]) {
      const padded = Buffer.concat([Buffer.alloc(shift), bytes])
      const start = shift === 0 ? 0 : shift + 1
      const end = Math.floor((padded.length * 8) / 6) - (padded.length % 3 === 0 ? 0 : 1)
      add(`base64 +${shift}`, padded.toString('base64').slice(start, end))
      add(`base64url +${shift}`, padded.toString('base64url').slice(start, end))
    }
  }
  const add = (name: string, text: string) => found.set(name, Buffer.from(text))
  add('encodeURIComponent', encodeURIComponent(secret))
  add(
    'lower-case percent',
    encodeURIComponent(secret).replace(/%../g, (escape) => escape.toLowerCase()),
  )
  add('form', new URLSearchParams({ a: secret }).toString().slice(2))
  add('JSON', JSON.stringify(secret).slice(1, -1))
  add('JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3))
  add('\\u', [...secret].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''))
  add('HTML decimal', [...secret].map((char) => `&#${char.charCodeAt(0)};`).join(''))
  add('HTML hex', [...secret].map((char) => `&#x${char.charCodeAt(0).toString(16)};`).join(''))
  const named: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  add(
    'HTML named',
    secret.replace(/[&<>"']/g, (char) => named[char]!),
  )
  add('upper case', secret.toUpperCase())
  add('lower case', secret.toLowerCase())
  found.set('UTF-16LE', Buffer.from(secret, 'utf16le'))
  found.set('UTF-16BE', Buffer.from(secret, 'utf16le').swap16())
  return found
}

/** The names of the encodings in which the bytes hold the secret. */
export function findSecret(bytes: Buffer | string, encodings: ReadonlyMap<string, Buffer>): string[] {
  const haystack = Buffer.from(bytes as string)
  return [...encodings].filter(([, needle]) => haystack.includes(needle)).map(([name]) => name)
}
