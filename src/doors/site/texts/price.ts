// Words of prices and of who may call. `{a}` and `{b}` are filled in.
import type { CallerKind } from '../../../core/caller.ts'
import type { Language } from '../routes.ts'

interface PriceTexts {
  readonly free: string
  readonly credit: string
  readonly credits: string
  readonly allowance: string
  readonly usdc: string
  readonly upTo: string
  readonly freeOr: string
  readonly setBy: string
  readonly perCall: string
  readonly howPaid: string
  readonly howCredits: string
  readonly who: Readonly<Record<CallerKind, string>>
}

const en: PriceTexts = {
  free: 'free',
  credit: '1 credit',
  credits: '{a} credits',
  allowance: 'free up to an allowance, then {a}',
  usdc: '{a} USDC',
  upTo: '{a} to {b} USDC',
  freeOr: 'free, or {a}',
  setBy: '{a}, in USDC',
  perCall: 'a call',
  howPaid: 'How it is paid',
  howCredits: 'What a credit is',
  who: {
    anyone: 'Anyone: no account, no token',
    capability: "An agent's capability",
    operator: 'A service key',
    admin: "The administrator's key",
    account: 'A service key or a capability',
    email: 'A free email key, or a service key',
    seller: "A seller's key",
  },
}

const ar: PriceTexts = {
  free: 'مجاني',
  credit: 'رصيد واحد',
  credits: '{a} من الرصيد',
  allowance: 'مجاني ضمن حصة محددة، ثم {a}',
  usdc: '{a} USDC',
  upTo: 'من {a} إلى {b} USDC',
  freeOr: 'مجاني، أو {a}',
  setBy: 'يُحدَّد لكل طلب، بعملة USDC',
  perCall: 'للنداء الواحد',
  howPaid: 'كيف يُدفع',
  howCredits: 'ما هو الرصيد',
  who: {
    anyone: 'الجميع: بلا حساب ولا رمز',
    capability: 'صلاحية ممنوحة لوكيل (capability)',
    operator: 'مفتاح خدمة',
    admin: 'مفتاح المدير',
    account: 'مفتاح خدمة أو صلاحية وكيل',
    email: 'مفتاح بريد مجاني أو مفتاح خدمة',
    seller: 'مفتاح بائع',
  },
}

/** `priceTexts[page.language]` */
export const priceTexts: Readonly<Record<Language, PriceTexts>> = { en, ar }
