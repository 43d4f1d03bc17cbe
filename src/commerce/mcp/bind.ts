// MCP: header fields against the JSON-RPC message that they describe.
import { bind } from '../compare.ts'
import { decodeBase64Text } from '../decode/json.ts'
import type { Binding, Found } from '../ports.ts'
import type { Stated } from '../protocol.ts'
import type { McpFacts } from './facts.ts'

/** Method, name and version, each where the header names it. */
export function bindMcp({ facts }: Stated<McpFacts>): Binding[] {
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
