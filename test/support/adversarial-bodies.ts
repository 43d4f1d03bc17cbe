// Bodies that an upstream would write to make their search expensive, and ordinary ones to compare them with.
import { randomBytes } from 'node:crypto'

/** @param secret known to the upstream: it came with the request */
export function adversarialBodies(bytes: number, secret: string): Readonly<Record<string, Buffer>> {
  const filledWith = (text: string) => Buffer.alloc(bytes, text, 'latin1')
  const escaped = secret.slice(0, -1).replaceAll(/./g, (char) => `%25${char.charCodeAt(0).toString(16)}`)
  const inBase64 = (content: Buffer) => Buffer.from(content.toString('base64'))
  return {
    'ordinary JSON': filledWith(
      '{"id":17,"name":"a name","url":"https://a.example/x/1","tags":["a","b"],"at":"2026-01-01T00:00:00Z"},',
    ),
    'ordinary HTML': filledWith(
      '<p class="x">you &amp; me, &quot;us&quot; <a href="/x?a=1&b=2">link</a></p>\n',
    ),
    'random bytes': randomBytes(bytes),
    'base64 of base64': inBase64(inBase64(randomBytes(bytes >> 1))).subarray(0, bytes),
    'nested escapes': filledWith('\\\\u005cu005c%25255c&amp;amp;#92;=3D5C'),
    'many short JSON strings': filledWith('"\\u0041","\\n%41&lt;=41",\n'),
    'percent of percent': filledWith('%2525'),
    backslashes: filledWith('\\'),
    ampersands: filledWith('&'),
    'character references': filledWith('&#x26;'),
    'escaped line breaks': filledWith('\\n%0a&#10;\n'),
    'blanks in a dump': Buffer.from(`00000000: a${' '.repeat(Math.max(0, bytes - 12))}b`),
    'blanks before a return in a dump': Buffer.from(`00000000: ${' '.repeat(Math.max(0, bytes - 12))}\rb`),
    'beginnings of base64': filledWith('/eyJhIjoiYiIsImMi_H4sIAAAAAAAA-KLUv/UEsD'),
    'members of an archive': filledWith(`PK\u0003\u0004\u0014\0\0\0\u0008\0${'\0'.repeat(23)}`),
    'members of an archive in base64': inBase64(filledWith('PK\u0003\u0004\u0014\0\0\0\u0008\0')).subarray(
      0,
      bytes,
    ),
    'marks of compressed bytes': filledWith(
      '\u001f\u008b\b\0\0\0\0\0\0\u0003x\u009c\u00ed(\u00b5/\u00fdx\u00da\u0005',
    ),
    'streams within streams': filledWith('x\u0001\0\u0010\0\u00ef\u00ff\u00ff'),
    'heads of parts': filledWith('--b\r\nContent-Encoding: br\r\n\r\n\u000b'),
    'lines of digits': filledWith('48656c6c6f2048656c6c6f2048\neyJhIjoiYiIsImMiOiJkIi\n'),
    'numbers of bytes': filledWith('97, 98,0x63 0144 01100101 6162 U+0061 Chr(97) & '),
    'entries of a list': Buffer.from(
      Array.from({ length: bytes / 8 }, (_, i) => `[${i}]=>${i % 256}`)
        .join('')
        .slice(0, bytes),
    ),
    tags: filledWith('<b>a</b><i>\u001b[1mb'),
    'beginnings of tags': filledWith('<a\u001b['),
    'digits in lines that are set in': filledWith('H4sIAAAAAAAAA6tWSlSyUoov\n  '),
    'digits in lines with escaped breaks': filledWith('48656c6c6f2048656c6c6f2048\\n'),
    'the secret but for its end': filledWith(`${secret.slice(0, -1)}!`),
    'the secret but for its end, escaped': filledWith(`${escaped}&amp;\\\\n`),
  }
}
