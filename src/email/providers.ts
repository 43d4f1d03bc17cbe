// Names that are known: the providers that most people have their mailbox with, relays that forward to a mailbox its owner
// wants to be reached at, names of roles, and names that are in no public DNS.

/** The order is by how many people use them: of two that a typo may have meant, the earlier one is suggested. */
export const PROVIDERS: readonly string[] = (
  'gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com live.com msn.com qq.com 163.com mail.ru yandex.ru ' +
  'gmx.de web.de comcast.net protonmail.com proton.me me.com hotmail.co.uk yahoo.co.uk googlemail.com gmx.net ' +
  'hotmail.fr orange.fr wanadoo.fr free.fr laposte.net yahoo.fr t-online.de freenet.de libero.it ymail.com ' +
  'yahoo.co.in yahoo.co.jp yahoo.com.br hotmail.it hotmail.es hotmail.de yahoo.de yahoo.it yahoo.es outlook.fr ' +
  'outlook.de live.co.uk btinternet.com sbcglobal.net verizon.net att.net bellsouth.net cox.net rediffmail.com ' +
  'naver.com 126.com yandex.com mail.com zoho.com fastmail.com gmx.com gmx.at gmx.ch uol.com.br bol.com.br ' +
  'terra.com.br rocketmail.com virgilio.it mac.com sina.com docomo.ne.jp seznam.cz wp.pl onet.pl interia.pl ' +
  'o2.pl bigpond.com optonline.net earthlink.net rogers.com shaw.ca sympatico.ca telus.net xtra.co.nz sky.com ' +
  'virginmedia.com ntlworld.com talktalk.net bluewin.ch skynet.be telenet.be ziggo.nl kpnmail.nl hanmail.net ' +
  'daum.net bk.ru inbox.ru list.ru rambler.ru ukr.net abv.bg tutanota.com tuta.io hey.com pm.me'
).split(' ')

/** Misspelt names in the list of free providers, which nobody meant. */
export const MISSPELT_PROVIDERS: ReadonlySet<string> = new Set(
  'yaho.com vahoo.com yahoo.co comast.net hitmail.com'.split(' '),
)

/** Each with everything below it: some give every user a sub-domain. */
export const RELAYS: ReadonlySet<string> = new Set(
  (
    'duck.com mozmail.com relay.firefox.com privaterelay.appleid.com ' +
    'simplelogin.com simplelogin.co simplelogin.fr aleeas.com slmail.me slmails.com silomails.com dralias.com ' +
    '8alias.com 8shield.net passmail.net passmail.com passinbox.com passfwd.com ' +
    'addy.io anonaddy.com anonaddy.me 33mail.com erine.email use-startmail.com'
  ).split(' '),
)

/** RFC 2142 and what else is read by whoever is on duty; without the - _ . that people put into them. */
export const ROLES: ReadonlySet<string> = new Set(
  // RFC 2142
  (
    'info marketing sales support abuse noc security postmaster hostmaster usenet news webmaster www uucp ftp ' +
    // the rest
    'admin administrator root sysadmin system noreply donotreply mailerdaemon bounce bounces nobody daemon ' +
    'contact contactus hello hi team office mail email enquiries inquiries enquiry inquiry help helpdesk service ' +
    'services customerservice customercare customersupport techsupport feedback billing accounts accounting ' +
    'accountspayable invoice invoices payments finance orders order shop store returns shipping booking bookings ' +
    'reservations reception hr jobs careers recruiting recruitment press media pr legal privacy dpo gdpr compliance ' +
    'partners partnerships affiliates advertising ads events newsletter subscribe unsubscribe list lists listserv ' +
    'majordomo all everyone staff it itsupport dev devops ops operations webteam dns ssladmin sslwebmaster ' +
    'kontakt contacto contato contatti vertrieb buchhaltung ventas vendas commercial comercial'
  ).split(' '),
)

/**
 * Special-use names that no public DNS has (RFC 6761, 6762, 7686, 8375, 9476; `internal` by resolution of ICANN).
 * `test` and `example` are not here: RFC 6761 asks applications to treat them as any other name, so DNS decides.
 */
export const SPECIAL_USE: ReadonlySet<string> = new Set(
  'localhost invalid local onion alt internal home.arpa localdomain'.split(' '),
)

/** Special-use names that must not even be looked up (RFC 7686, RFC 9476). */
export const NEVER_ASKED: ReadonlySet<string> = new Set(['onion', 'alt'])
