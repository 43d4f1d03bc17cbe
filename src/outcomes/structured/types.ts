// Names of types as schema.org spells them. Pages write `product`, `schema:Product` or `http://schema.org/Product/`: for a
// reader these are one type, so every one is brought to one spelling and nothing behind has to think about it.

/** Those that anything is decided by; another type keeps the spelling of its page. */
const SPELLED = `
  Thing CreativeWork Article NewsArticle AnalysisNewsArticle AskPublicNewsArticle BackgroundNewsArticle OpinionNewsArticle
  ReportageNewsArticle ReviewNewsArticle AdvertiserContentArticle SatiricalArticle ScholarlyArticle MedicalScholarlyArticle
  TechArticle APIReference Report BlogPosting LiveBlogPosting SocialMediaPosting DiscussionForumPosting Blog
  QAPage FAQPage Question Answer Comment Review Recipe HowTo Course Book Audiobook Chapter Dataset VideoObject AudioObject
  ImageObject PodcastEpisode PodcastSeries Event JobPosting
  WebPage WebSite AboutPage ContactPage CollectionPage ItemPage ProfilePage SearchResultsPage CheckoutPage MedicalWebPage
  ItemList ListItem BreadcrumbList SiteNavigationElement Person Organization NewsMediaOrganization Corporation OnlineStore
  LocalBusiness Store Brand PropertyValue Rating AggregateRating QuantitativeValue PostalAddress
  Product ProductGroup ProductModel IndividualProduct SomeProducts ProductCollection ActualProductOrServiceInstance SomeItems
  ProductOrService Car Motorcycle Vehicle VideoGame Game MusicAlbum MusicRelease Movie SoftwareApplication MobileApplication
  WebApplication Drug DietarySupplement VisualArtwork Service
  Offer AggregateOffer Offering OfferForPurchase OfferCatalog Demand PriceSpecification UnitPriceSpecification
  OfferShippingDetails ShippingDeliveryTime MerchantReturnPolicy DefinedRegion MonetaryAmount`
const BY_FOLD: ReadonlyMap<string, string> = new Map(
  SPELLED.trim()
    .split(/\s+/)
    .map((name) => [name.toLowerCase(), name]),
)

/** Local name of a type: without its address or prefix, and with the capitals of schema.org. */
export function typeName(written: string): string {
  const local = written.replace(/[/#]+$/, '').replace(/^.*[/#:]/s, '')
  return BY_FOLD.get(local.toLowerCase()) ?? local
}
