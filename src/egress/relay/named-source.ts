// Headers by which a request has its service read something beside the target, with the same credential: what is copied, moved or linked to.
// Here it becomes a target that scopes and rules can be asked about; what they say is request.ts and rules/judge.ts.
import type { HeaderPairs } from '../headers.ts'
import type { NamedSource, PreparedRequest } from '../request.ts'
import { parseTarget, type TargetOptions } from '../target.ts'
import { spelled } from './headers.ts'
import { programTarget } from './target.ts'

/**
 * Copies of S3 and what is compatible with it, of Azure and of Swift, renames, and objects that are made of others. Conditions on a source
 * (`x-amz-copy-source-if-match`) name none.
 */
const NAMES_SOURCE =
  /^x[-_](?:(?:[a-z\d]+[-_])*(?:copy|move|rename)[-_]source|copy[-_]from(?:[-_]account)?|object[-_]manifest|(?:oss[-_])?symlink[-_]target(?:[-_]account)?)$/i

/**
 * @param headers that go out
 * @param listed by the operator for the credential: they may name whatever its key can read
 * @returns undefined where they name nothing
 */
export function findSources(
  headers: HeaderPairs,
  target: PreparedRequest['target'],
  options: TargetOptions,
  listed: readonly string[] = [],
): readonly NamedSource[] | undefined {
  const naming = headers.filter(([name, value]) => NAMES_SOURCE.test(name) && value.trim() !== '')
  if (naming.length === 0) return undefined
  const allowed = listed.map(spelled)
  return naming
    .map(([name, value]) => [spelled(name), value.trim()] as const)
    .filter(([header]) => !allowed.includes(header))
    .map(([header, value]) => {
      const source = readSource(header, value, target, options)
      const mayLeave = source === undefined && isElsewhere(header, value, target.url.host)
      return { header, target: source, ...(mayLeave && { isElsewhere: true as const }) }
    })
}

function readSource(
  header: string,
  value: string,
  { url }: PreparedRequest['target'],
  options: TargetOptions,
): NamedSource['target'] {
  const text =
    header === 'x-ms-copy-source'
      ? programTarget(value, [])
      : S3_COPIES.has(header)
        ? readS3Source(value, url.host)
        : undefined
  const verdict = text === undefined ? undefined : parseTarget(text, options)
  return verdict?.ok === true ? verdict : undefined
}

const S3_COPIES = new Set(['x-amz-copy-source', 'x-goog-copy-source'])

/**
 * Hosts of object stores that are known to name a bucket in front of them (`photos.s3.amazonaws.com`) or as the first segment of the path. At
 * any other host nobody can tell which of the two it is, and so which bucket a scope of paths is about.
 */
const STORE_HOSTS = [
  /s3(?:[.-](?:fips|dualstack|accelerate|external-1|[a-z]{2,3}(?:-[a-z]+)+-\d))*\.amazonaws\.com(?:\.cn)?/,
  /storage\.googleapis\.com/,
  /s3(?:\.[a-z]{2}-[a-z]+-\d)?\.wasabisys\.com/,
  /s3\.[a-z]{2}-[a-z]+-\d{3}\.backblazeb2\.com/,
  /[a-z]{3}\d\.digitaloceanspaces\.com/,
  /[\da-f]{32}(?:\.(?:eu|fedramp))?\.r2\.cloudflarestorage\.com/,
]
const STORE_HOST = new RegExp(
  `^(?:(?<bucket>.+)\\.)?(?<store>(?:${STORE_HOSTS.map(({ source }) => source).join('|')})(?::\\d+)?)$`,
)

/**
 * Stores whose hosts are those of one bucket each where `STORE_HOSTS` does not know better: access points, directory buckets and endpoints of
 * a VPC at AWS, and all buckets of the others.
 */
const BUCKET_HOST = /\.(?:amazonaws\.com(?:\.cn)?|aliyuncs\.com|myqcloud\.com|myhuaweicloud\.com)(?::\d+)?$/

/** Whether what cannot be read may be at another host than the request: what is copied, where the host is that of one bucket or account. */
function isElsewhere(header: string, value: string, host: string): boolean {
  if (header === 'x-ms-copy-source') return true
  if (!header.endsWith('-copy-source')) return false
  const own = STORE_HOST.exec(host)?.groups
  if (!own) return BUCKET_HOST.test(host)
  const bucket = own['bucket']
  return bucket !== undefined && !value.startsWith(`${bucket}/`) && !value.startsWith(`/${bucket}/`)
}

/** Whatever else stands in it is read in two ways by some stores: a plus, a second question mark, a fragment. */
const S3_SOURCE = /^((?:[\w.~!$&'()*,=:@/-]|%[\da-f]{2})+)(?:\?versionId=[\w.~-]*)?$/i
const BUCKET_AND_KEY = /^\/?(?<bucket>[A-Za-z\d][\w.-]+)\/(?<key>.+)$/s

/**
 * `bucket/key` or `/bucket/key`, in percent-encoding as a whole, as S3 takes it.
 * @param host of the request, with its port
 * @returns the address of that object, in the form in which the request has its own; undefined for an access point and what is no such value
 */
function readS3Source(value: string, host: string): string | undefined {
  const own = STORE_HOST.exec(host)?.groups
  const escaped = S3_SOURCE.exec(value)?.[1]
  if (!own || escaped === undefined) return undefined
  const { bucket = '', key = '' } = BUCKET_AND_KEY.exec(decoded(escaped))?.groups ?? {}
  if (bucket === '') return undefined
  const path = key.split('/').map(encodeURIComponent).join('/')
  return own['bucket'] === undefined
    ? `https://${host}/${bucket}/${path}`
    : `https://${bucket}.${own['store']}/${path}`
}

/** @returns nothing for what is no escape of UTF-8 */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
