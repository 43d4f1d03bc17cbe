// Serves parts of an object, as S3 and web servers do.
import type { Respond, ReceivedRequest } from './upstream.ts'

export interface Ranged {
  /** Whether it serves the whole whatever is asked for. */
  readonly isIgnored?: boolean
  readonly etag?: string
  readonly encoding?: string
  /** So many bytes behind those that were asked for come. */
  readonly shift?: number
  /** Content-Range, in the place of the right one. */
  readonly says?: string
}

/** @param objectOf undefined where there is none */
export function serveRanges(
  objectOf: (request: ReceivedRequest) => Buffer | undefined,
  { isIgnored = false, etag = '"0"', encoding, shift = 0, says }: Ranged = {},
): Respond {
  return (request, res) => {
    const object = objectOf(request)
    if (!object) return res.writeHead(404).end()
    const given = new Map(request.headers)
    const [match, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(given.get('range') ?? '') ?? []
    const head = {
      etag,
      'accept-ranges': 'bytes',
      'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    }
    const answer = (status: number, headers: Record<string, string>, body: Buffer) =>
      res
        .writeHead(status, { ...head, ...headers, 'content-length': body.length })
        .end(request.method === 'HEAD' ? undefined : body)
    const isMet = (given.get('if-range') ?? etag) === etag
    if (match === undefined || isIgnored || !isMet) return answer(200, {}, object)
    const first = (from === '' ? Math.max(0, object.length - Number(to)) : Number(from)) + shift
    const last = from === '' || to === '' ? object.length - 1 : Math.min(Number(to), object.length - 1)
    if (first >= object.length)
      return answer(416, { 'content-range': `bytes */${object.length}` }, Buffer.alloc(0))
    const range = says ?? `bytes ${first}-${last}/${object.length}`
    return answer(206, range === '' ? {} : { 'content-range': range }, object.subarray(first, last + 1))
  }
}
