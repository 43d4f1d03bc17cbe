// Envelopes: header fields of MCP against the JSON-RPC message they describe, ids in a path against those in a body.
import { decodeBase64Text } from '../decode/json.ts'
import { pickText } from '../decode/value.ts'
import { jsonBody } from '../message.ts'
import type { Binding, Found, Layer, Message } from '../ports.ts'
import { readMcp } from '../mcp/read.ts'
import { readUcp } from '../ucp/read.ts'
import { bind } from './compare.ts'

export function bindMcp(layer: Layer, message: Message): Binding[] {
  const facts = readMcp(layer, message)
  return [
    ...compare(facts.headerMethod, facts.method, 'Mcp-Method', 'the method'),
    ...compare(facts.headerName, facts.name, 'Mcp-Name', 'the name'),
    ...compare(facts.headerVersion, facts.metaVersion, 'MCP-Protocol-Version', 'the version in _meta'),
  ]
}

function compare(
  header: Found<string> | null,
  body: Found<string> | null,
  name: string,
  what: string,
): Binding[] {
  if (header === null) return []
  if (body === null)
    return name === 'MCP-Protocol-Version'
      ? []
      : [
          bind(
            'header_body',
            'mismatch',
            header.at,
            '/body',
            `${name} is there, and the body has nothing that it could be.`,
          ),
        ]
  const isSame = decodeValue(header.value) === body.value
  return [
    bind(
      'header_body',
      isSame ? 'match' : 'mismatch',
      header.at,
      body.at,
      isSame
        ? `${name} is ${what} of the body.`
        : `${name} is not ${what} of the body: a server answers 400.`,
    ),
  ]
}

/** Names that no header field can carry are sent as `=?base64?…?=`. */
function decodeValue(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z\d+/=]*)\?=$/i.exec(value)?.[1]
  return encoded === undefined ? value : (decodeBase64Text(encoded) ?? value)
}

export function bindUcp(layer: Layer, message: Message): Binding[] {
  // Elsewhere the last part of a path may be a verb (`/catalog/product`), and `id` that of an event.
  if (layer.transport !== 'rest' || !/^(?:checkout|cart)\b/.test(layer.stage)) return []
  const { checkoutId } = readUcp(layer, message)
  const inBody = pickText(jsonBody(message), 'id')
  if (checkoutId?.at !== '/target' || inBody === null) return []
  const isSame = checkoutId.value === inBody.value
  return [
    bind(
      'resource',
      isSame ? 'match' : 'mismatch',
      inBody.at,
      '/target',
      isSame
        ? 'The body is about the checkout of the path.'
        : 'The body is about another checkout than the path.',
    ),
  ]
}
