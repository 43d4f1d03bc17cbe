// Reads a Content-Type.

export interface ContentType {
  /** `type/subtype` in lower case; empty where there is none that can be read. */
  readonly essence: string
  readonly charset: string | undefined
}

/** @returns the essence in lower case, '' where the header has none, and the charset as it is written (RFC 9110, 8.3) */
export function parseContentType(header: string | undefined): ContentType {
  const [, essence = ''] = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(?:;|$)/.exec(header ?? '') ?? []
  const charset = /;\s*charset\s*=\s*(?:"([^"]{1,40})"|([^\s;"]{1,40}))/i.exec(header ?? '')
  return { essence: essence.toLowerCase(), charset: (charset?.[1] ?? charset?.[2])?.trim() }
}

/** @param essence in lower case; `application/problem+json` counts */
export const isJson = (essence: string) => /^(?:application|text)\/json$|\+json$/.test(essence)

const TEXTUAL =
  /^text\/|[/+](?:xml|yaml)$|^application\/(?:javascript|ecmascript|x-javascript|x-yaml|x-ndjson|ndjson|jsonl|graphql|sql|toml|x-www-form-urlencoded|x-sh|rtf|manifest\+json)$/

/** @param essence in lower case; whether people read it as text, scripts and markup included */
export const isTextual = (essence: string) => TEXTUAL.test(essence)
