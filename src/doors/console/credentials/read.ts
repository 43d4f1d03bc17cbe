// Forms of credentials as the tools take them. What is wrong with a value is the tool's to say; here only what cannot be read at all.
import { GatewayError } from '../../../core/errors.ts'
import { isObject } from '../../../lib/json.ts'
import { parseOperatorJson } from '../../../lib/operator-json.ts'
import { budgetsOf } from '../components/budgets.tsx'
import { linesOf, textOf, wordsOf } from '../components/fields.tsx'
import { KIND_FORMS, type KindField, type KindName } from './kinds.ts'

type Json = Record<string, unknown>

/** The word before a secret in `authorization` where nobody says another. */
export const USUAL_SCHEME = 'Bearer'

/** Rows for texts that the operator names. */
export const NAMED_ROWS = 4

/** What a form of a new credential asks for. @throws {GatewayError} input_invalid */
export function readNewCredential(form: URLSearchParams): Json {
  const kind = (form.get('kind') ?? 'text') as KindName
  const parts = readParts(form)
  const settings = { ...readSettings(form), ...kindSettings(form, kind) }
  const label = textOf(form, 'label')
  const hosts = linesOf(form, 'hosts')
  const budgets = budgetsOf(form)
  return {
    provider: form.get('provider') ?? '',
    ...(label !== undefined && { label }),
    ...parts,
    ...(hosts.length > 0 && { hosts }),
    path_prefixes: linesOf(form, 'path_prefixes'),
    methods: form.getAll('methods'),
    ...(kind === 'text' && readHeader(form)),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(budgets.length > 0 && { budgets }),
  }
}

/** Where one text goes: left as they stand, the fields say what the gateway does anyway. */
function readHeader(form: URLSearchParams): Json {
  const header = textOf(form, 'header')
  const scheme = form.get('scheme')?.trim()
  if (scheme === undefined || (header === undefined && scheme === USUAL_SCHEME)) return {}
  return { header: header ?? 'authorization', scheme }
}

/** What a form that changes a credential asks for: all but the secret. @throws {GatewayError} input_invalid */
export const readEdit = (form: URLSearchParams): Json => ({
  ...(textOf(form, 'label') !== undefined && { label: textOf(form, 'label') }),
  hosts: linesOf(form, 'hosts'),
  path_prefixes: linesOf(form, 'path_prefixes'),
  methods: form.getAll('methods'),
  settings: readSettings(form),
  budgets: budgetsOf(form),
})

/**
 * The secret: one text, or several by name. Fields are `secret`, `secret.NAME`, `public.NAME`, and rows that name themselves.
 * @returns `secret` or `parts`, as tools take them; nothing where nothing was typed
 */
export function readParts(form: URLSearchParams): { secret: string } | { parts: Json } | Json {
  const parts = new Map<string, string>()
  for (const [name, value] of form) {
    const [, part] = /^(?:secret|public)\.([a-z_]+)$/.exec(name) ?? []
    if (part !== undefined && value !== '') parts.set(part, asTyped(value))
  }
  for (const { name, value } of namedRows(form)) parts.set(name, asTyped(value))
  const one = form.get('secret') ?? ''
  if (parts.size === 0) return one === '' ? {} : { secret: one.trim() }
  if (one !== '') parts.set('secret', one.trim())
  return { parts: Object.fromEntries(parts) }
}

/** Forms end lines with two characters, key files with one; a text of one line is meant without the spaces that came along with it. */
const asTyped = (value: string) => (value.includes('\n') ? value.replaceAll('\r\n', '\n') : value.trim())

interface NamedRow {
  readonly name: string
  readonly value: string
  readonly isPublic: boolean
}

function namedRows(form: URLSearchParams): NamedRow[] {
  return Array.from({ length: NAMED_ROWS }, (_, row) => ({
    name: form.get(`name.${row}`)?.trim() ?? '',
    value: form.get(`secret-row.${row}`) ?? '',
    isPublic: form.has(`is-public.${row}`),
  })).filter(({ name, value }) => name !== '' && value !== '')
}

function kindSettings(form: URLSearchParams, kind: KindName): Json {
  const rows = namedRows(form)
  const named =
    rows.length > 0
      ? {
          parts: Object.fromEntries(rows.map(({ name, isPublic }) => [name, isPublic ? 'public' : 'secret'])),
        }
      : {}
  if (kind === 'text') return {}
  if (kind === 'texts') {
    const placements = readJson(form, 'placements')
    return { ...named, ...(placements !== undefined && { placements }) }
  }
  const members: Json = { type: kind }
  for (const field of KIND_FORMS[kind].fields) {
    const value = readField(form, field)
    if (value !== undefined) members[field.name] = value
  }
  return {
    kind: members,
    ...(kind === 'hmac' && rows.length > 0 && { parts: { key: 'secret', ...named.parts } }),
  }
}

function readField(form: URLSearchParams, { name, input }: KindField): unknown {
  const at = `kind.${name}`
  if (input === 'words') {
    const words = wordsOf(form, at)
    return words.length > 0 ? words : undefined
  }
  if (input !== 'pairs') return textOf(form, at)
  const lines = linesOf(form, at)
  if (lines.length === 0) return undefined
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf('=')
      if (cut < 1) throw refused(`/settings/kind/${name}`, `write ${line} as name=value`)
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()]
    }),
  )
}

/** Settings as JSON, and those that have a field of their own. */
function readSettings(form: URLSearchParams): Json {
  const further = readJson(form, 'settings') ?? {}
  if (!isObject(further)) throw refused('/settings', 'write further settings as a JSON object')
  const ca = textOf(form, 'ca')
  const targets = linesOf(form, 'private_targets').map(readTarget)
  const tls = isObject(further['tls']) ? further['tls'] : {}
  return {
    ...further,
    ...(ca !== undefined && { tls: { ...tls, ca: `${ca.replaceAll('\r\n', '\n')}\n` } }),
    ...(targets.length > 0 && { unsafe_private_targets: targets }),
  }
}

function readJson(form: URLSearchParams, name: string): unknown {
  const text = textOf(form, name)
  if (text === undefined) return undefined
  try {
    return parseOperatorJson(text)
  } catch (cause) {
    throw refused(`/${name}`, 'this is not valid JSON, or says something twice', cause)
  }
}

/** As on the command line: `host:port=range`. */
function readTarget(line: string): Json {
  const [, host, port = '443', cidr] = /^([^:=]+)(?::(\d{1,5}))?=([0-9a-fA-F.:]+\/\d{1,3})$/.exec(line) ?? []
  if (host === undefined || cidr === undefined)
    throw refused(
      '/settings/unsafe_private_targets',
      `write ${line} as host:port=range, such as git.example.com:443=10.1.2.0/24`,
    )
  return { host, port: Number(port), cidr: cidr.toLowerCase() }
}

const refused = (pointer: string, message: string, cause?: unknown) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, {
    cause,
    extras: { fields: [{ pointer, message }] },
  })
