// Says who runs the hosts that take a domain's mail, as far as their names tell, and whether such a service takes mail for
// any name at all: then no answer of a mail server says that a mailbox is there.

export type MailServiceKind =
  /** It has mailboxes; a catch-all is what an owner sets up on purpose. */
  | 'mailboxes'
  /** It forwards: a rule for every name is one switch, and often the first that is set. */
  | 'forwarding'
  /** A program reads the mail: every name arrives, by design. */
  | 'program'
  /** It filters in front of another server, and mostly accepts before it knows the mailbox. */
  | 'filter'
  /** It belongs to a service of disposable addresses. */
  | 'throwaway'

export interface MailService {
  readonly name: string
  readonly kind: MailServiceKind
}

/** By the end of the host's name. */
const SERVICES: readonly (readonly [kind: MailServiceKind, name: string, suffixes: string])[] = [
  ['mailboxes', 'Google', 'google.com googlemail.com smtp.goog'],
  ['mailboxes', 'Microsoft', 'protection.outlook.com mx.microsoft olc.protection.outlook.com'],
  ['mailboxes', 'Apple', 'mail.icloud.com'],
  ['mailboxes', 'Yahoo', 'yahoodns.net'],
  ['mailboxes', 'Yandex', 'mx.yandex.net mx.yandex.ru'],
  ['mailboxes', 'Zoho', 'zoho.com zoho.eu zoho.in zohomail.com'],
  ['mailboxes', 'Fastmail', 'messagingengine.com'],
  ['mailboxes', 'Proton', 'protonmail.ch'],
  ['mailboxes', 'Tuta', 'tutanota.de'],
  ['mailboxes', 'Migadu', 'migadu.com'],
  ['forwarding', 'Cloudflare Email Routing', 'mx.cloudflare.net'],
  ['forwarding', 'ImprovMX', 'improvmx.com'],
  ['forwarding', 'Forward Email', 'forwardemail.net'],
  ['forwarding', 'SimpleLogin', 'simplelogin.co'],
  ['forwarding', 'addy.io', 'anonaddy.me anonaddy.com addy.io'],
  ['forwarding', 'Namecheap forwarding', 'registrar-servers.com'],
  ['program', 'Mailgun', 'mailgun.org'],
  ['program', 'SendGrid', 'mx.sendgrid.net'],
  ['program', 'Postmark', 'inbound.postmarkapp.com'],
  ['program', 'CloudMailin', 'cloudmailin.net'],
  ['filter', 'Proofpoint', 'pphosted.com ppe-hosted.com'],
  ['filter', 'Mimecast', 'mimecast.com mimecast.co.za'],
  ['filter', 'Barracuda', 'barracudanetworks.com'],
  ['filter', 'Cisco', 'iphmx.com'],
  ['filter', 'Broadcom', 'messagelabs.com'],
]
const BY_SUFFIX = new Map(
  SERVICES.flatMap(([kind, name, suffixes]) =>
    suffixes.split(' ').map((suffix): [string, MailService] => [suffix, { name, kind }]),
  ),
)
/** Amazon names its receiving hosts by region. */
const SES = /^inbound-smtp\.[a-z0-9-]+\.amazonaws\.com$/

/** @param host lower-case name of a mail host; undefined where nobody knows it */
export function findMailService(host: string): MailService | undefined {
  if (SES.test(host)) return { name: 'Amazon SES', kind: 'program' }
  for (let name = host; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const service = BY_SUFFIX.get(name)
    if (service) return service
  }
  return undefined
}

/** Kinds that mostly take mail for every name. */
export const takesEveryName = (kind: MailServiceKind): boolean =>
  kind === 'forwarding' || kind === 'program' || kind === 'filter'
