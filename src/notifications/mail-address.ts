// The address of a mailbox that is told: one, in plain ASCII, and nothing that a mail server or a header could read as more.
const ADDRESS =
  /^([A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9])$/
const SCHEME = 'mailto:'

export interface MailAddress {
  readonly address: string
  /** In lower case. */
  readonly domain: string
}

/** @returns undefined where it is not the address of exactly one mailbox */
export function readMailAddress(text: string): MailAddress | undefined {
  if (text.length > 254) return undefined
  const at = text.lastIndexOf('@')
  const spelled = text.slice(0, at) + text.slice(at).toLowerCase()
  const [, local = '', domain = ''] = ADDRESS.exec(spelled) ?? []
  return local === '' || local.length > 64 ? undefined : { address: `${local}@${domain}`, domain }
}

/** Whether a target is a mailbox: `mailto:anna@example.com`. */
export const isMail = (url: string): boolean => url.startsWith(SCHEME)

/** @returns undefined where there is anything beside the one address, such as a subject */
export const readMailto = (url: string): MailAddress | undefined =>
  isMail(url) ? readMailAddress(url.slice(SCHEME.length)) : undefined

/**
 * Whether mail may go there: an operator's mail server is not for strangers.
 * @param allowed addresses, and domains
 */
export const isAllowed = ({ address, domain }: MailAddress, allowed: readonly string[]): boolean =>
  allowed.some((each) =>
    each.includes('@') ? each.toLowerCase() === address.toLowerCase() : each === domain,
  )
