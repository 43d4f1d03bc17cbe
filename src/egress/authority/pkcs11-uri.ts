// PKCS#11 URIs (RFC 7512), as far as they name one private key: `pkcs11:token=…;object=…?module-path=…&pin-source=file:…`.
import type { Pkcs11Key } from '../../core/config.ts'

const EXAMPLE =
  'pkcs11:token=gateway;object=agent-gateway?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/agent-gateway/pin'

const TOKEN = { token: 'label', serial: 'serial', manufacturer: 'manufacturer', model: 'model' } as const
const KNOWN = new Set([...Object.keys(TOKEN), 'object', 'id', 'type'])

/**
 * @param text what is behind `pkcs11:`
 * @returns a sentence, where it does not name a key, its module and the file with the PIN; nothing of the text is in it
 */
export function parsePkcs11(text: string): Pkcs11Key | string {
  const [path = '', query = '', ...more] = text.split('?')
  const named = attributes(path, ';')
  const asked = attributes(query, '&')
  if (!named || !asked || more.length > 0) return `\`pkcs11:\` takes a PKCS#11 URI (RFC 7512): ${EXAMPLE}`
  if (asked.has('pin-value'))
    return '`pkcs11:` takes no `pin-value`: write the PIN to a file of mode 0600, and name it with `pin-source=file:/…`'
  // A consumer that passes over what it does not know takes another key than the one that was described.
  const unknown = [...named.keys()].some((name) => !KNOWN.has(name))
  const others = [...asked.keys()].some((name) => name !== 'module-path' && name !== 'pin-source')
  if (unknown || others || (named.get('type') ?? 'private') !== 'private')
    return `\`pkcs11:\` takes token, serial, manufacturer, model, object, id, module-path and pin-source: ${EXAMPLE}`

  const modulePath = asked.get('module-path')
  const pinFile = asked.get('pin-source')?.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/, '')
  const label = named.get('object')
  const id = named.get('id')
  const token = Object.fromEntries(
    Object.entries(TOKEN).flatMap(([name, of]) => (named.has(name) ? [[of, named.get(name)]] : [])),
  )
  if (!modulePath?.startsWith('/') || !pinFile?.startsWith('/'))
    return `\`pkcs11:\` names its library with \`module-path=/…\` and the file with the PIN with \`pin-source=file:/…\`: ${EXAMPLE}`
  if (Object.keys(token).length === 0 || (label === undefined && id === undefined))
    return `\`pkcs11:\` names a token (\`token=\` or \`serial=\`) and a key in it (\`object=\` or \`id=\`): ${EXAMPLE}`
  return {
    modulePath,
    pinFile,
    token,
    key: {
      ...(label !== undefined && { label }),
      ...(id !== undefined && { id: Buffer.from(id, 'latin1').toString('hex') }),
    },
  }
}

/** @returns undefined where it is not a list of `name=value`, each name once */
function attributes(text: string, separator: string): Map<string, string> | undefined {
  const found = new Map<string, string>()
  for (const part of text === '' ? [] : text.split(separator)) {
    const [, name, value] = /^([a-z-]+)=(.+)$/.exec(part) ?? []
    if (name === undefined || value === undefined || found.has(name)) return undefined
    const bytes = percentDecoded(value)
    if (!bytes) return undefined
    found.set(name, bytes.toString(name === 'id' ? 'latin1' : 'utf8'))
  }
  return found
}

/** Of any bytes: a CKA_ID is no text. */
function percentDecoded(text: string): Buffer | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined
  return Buffer.concat(
    text
      .split(/(%[\da-f]{2})/i)
      .map((part) => (part.startsWith('%') ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  )
}
