// Requests of a seller from its own browser. The key goes along in a header and is nowhere else.

/** A refusal, as the gateway words it. */
export interface Refusal {
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly fields: readonly { readonly pointer: string; readonly message: string }[]
}
export type Answer<T> =
  { readonly ok: true; readonly body: T } | { readonly ok: false; readonly why: Refusal }

export interface Asking {
  /** `page.api` */
  readonly api: string
  /** Undefined before there is one. */
  readonly key?: string | undefined
  /** Said where nothing answers. */
  readonly offline: string
}

/** @param path below `/v1/marketplace` */
export async function ask<T>(
  { api, key, offline }: Asking,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  try {
    const response = await fetch(`${api}/v1/marketplace${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
    })
    const answer: unknown = await response.json()
    if (response.ok) return { ok: true, body: answer as T }
    const { code = '', title = '', detail = '', fields = [] } = answer as Partial<Refusal>
    return { ok: false, why: { code, title, detail, fields } }
  } catch {
    return { ok: false, why: { code: 'offline', title: offline, detail: '', fields: [] } }
  }
}

/** What is wrong with one field, of what the gateway said. */
export const faultOf = (why: Refusal | undefined, pointer: string): string | undefined =>
  why?.fields.find((field) => field.pointer === pointer || field.pointer.startsWith(`${pointer}/`))?.message
