// Why a page that answered is nothing to sell, and what to do about each: the words of the coverage.
import type { SourceReason } from '../../../../schemas/sources.ts'

/** What each reason tells a person. The order is that of judging: what stands first wins where two are as likely. */
export const POOR_DETAILS = {
  captcha:
    'The site asks its visitor to prove that it is no program, and shows nothing else. Name another source, or an interface of the site that is made for programs.',
  access_denied:
    'The site answers with a refusal instead of a page. Name another source, or ask the site for access.',
  server_error: 'The site answers with an error of its own or is under maintenance. Try again later.',
  soft_404:
    'The site says that there is no such page, although its status says success. Check the address, or find the page from the home page of the site.',
  parked_domain:
    'Nothing but a placeholder of a domain or a server is at this address. Check the spelling of the host.',
  age_gate: 'The site asks for the age of its visitor before it shows anything. Name another source.',
  paywall:
    'Only the beginning of the text is free to read; the rest is sold by the site. Name another source, or read it with your own subscription.',
  login_wall: 'The site asks its visitor to log in. Send the address of a page that anybody can read.',
  consent_wall:
    'The site asks for consent before it shows anything, and nobody here can give it. Name another source.',
  empty_listing: 'The page is a list without entries. Send a broader search, or another category.',
  refresh_stub: 'The page only sends its readers on. Send the address that it leads to.',
  script_shell:
    'The page is empty until its scripts have run, and they are not run. Send an address that answers with text, such as a feed or an API of the site.',
  remnant:
    'All that can be read is a remnant, such as a footer or a menu. Send an address that answers with text.',
} as const satisfies Partial<Record<SourceReason, string>>

export type PoorReason = keyof typeof POOR_DETAILS

export const POOR_REASONS = Object.keys(POOR_DETAILS) as readonly PoorReason[]

/** The refusal of a page, as readings have it. */
export const refusePoor = (reason: PoorReason) =>
  ({ ok: false, reason, detail: POOR_DETAILS[reason] }) as const
