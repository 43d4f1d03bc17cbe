// A receipt's signature is most of many answers, a thousand characters that no model reads: MCP and A2A leave it out, unless asked for it.
import { z } from 'zod'
import { Receipt } from '../../schemas/receipt.ts'
import { isObject } from '../lib/json.ts'

/** Key of the wish in the `_meta` of MCP and the metadata of A2A. */
export const RECEIPTS_META = 'agent-gateway/receipts'
/** Whether a request asks for whole receipts. */
export const wantsSignatures = (meta: Readonly<Record<string, unknown>> | undefined): boolean =>
  meta?.[RECEIPTS_META] === 'full'

/** The places of receipts in the answers of a schema. Documents of strangers may hold something that looks like one: it is theirs. */
type Places =
  | { readonly kind: 'receipt' }
  | { readonly kind: 'list'; readonly each: Places }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Places])[] }

function findPlaces(schema: unknown): Places | undefined {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return findPlaces(schema.unwrap())
  if (schema instanceof z.ZodArray) {
    const each = findPlaces(schema.element)
    return each && { kind: 'list', each }
  }
  if (!(schema instanceof z.ZodObject)) return undefined
  if (schema.shape['jws'] === Receipt.shape.jws) return { kind: 'receipt' }
  const members = Object.entries(schema.shape).flatMap(([name, member]) => {
    const found = findPlaces(member)
    return found ? [[name, found] as const] : []
  })
  return members.length > 0 ? { kind: 'object', members } : undefined
}

const known = new WeakMap<z.ZodType, Places | null>()

/** @returns the output of this schema without the signatures of its receipts; itself where there are none */
export function withoutSignatures(schema: z.ZodType, output: unknown): unknown {
  let places = known.get(schema)
  if (places === undefined) known.set(schema, (places = findPlaces(schema) ?? null))
  return places === null ? output : cut(places, output)
}

/** @returns a receipt without its signature; anything else as it is */
export function withoutSignature(receipt: unknown): unknown {
  if (!isObject(receipt) || receipt['jws'] === undefined) return receipt
  const { jws: _signature, ...rest } = receipt
  return rest
}

function cut(places: Places, value: unknown): unknown {
  if (places.kind === 'list')
    return Array.isArray(value) ? value.map((item: unknown) => cut(places.each, item)) : value
  if (places.kind === 'receipt') return withoutSignature(value)
  if (!isObject(value)) return value
  const shown = { ...value }
  for (const [name, inner] of places.members) if (name in shown) shown[name] = cut(inner, shown[name])
  return shown
}

/** The bytes of a paid answer stay as they were stored, but for the signature of the receipt at their end. */
export function withoutSignatureText(json: string, output: unknown): string {
  const receipt = isObject(output) ? output['receipt'] : undefined
  const jws = isObject(receipt) ? receipt['jws'] : undefined
  if (typeof jws !== 'string') return json
  const text = `,"jws":${JSON.stringify(jws)}`
  const at = json.lastIndexOf(text)
  return at < 0 ? json : json.slice(0, at) + json.slice(at + text.length)
}
