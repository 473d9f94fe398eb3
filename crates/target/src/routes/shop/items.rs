//! What the shop sells. Every response about it is built before the first request.

use std::fmt::Write as _;

use ablaze_random::SplitMix64;

const ITEMS: u64 = 1000;
const ITEMS_PER_PAGE: u64 = 20;
/// Pages of the list.
pub const PAGES: u64 = ITEMS / ITEMS_PER_PAGE;

const KINDS: [&str; 16] = [
    "lamp", "chair", "table", "clock", "kettle", "radio", "mirror", "basket", "ladder", "candle",
    "pillow", "teapot", "hammer", "carpet", "bucket", "broom",
];
const LOOKS: [&str; 16] = [
    "red", "blue", "green", "white", "black", "small", "large", "round", "old", "new", "plain",
    "striped", "wooden", "steel", "paper", "glass",
];

/// All items and pages of them.
#[derive(Debug)]
pub struct Catalogue {
    items: Vec<Item>,
    pages: Vec<Vec<u8>>,
}

/// An item.
#[derive(Debug)]
pub struct Item {
    /// Its price.
    pub price_cents: u64,
    /// The response about it.
    pub json: Vec<u8>,
}

impl Catalogue {
    /// The items of this seed.
    pub fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut items = Vec::new();
        let mut pages = Vec::new();
        for page in 1..=PAGES {
            let mut list = String::new();
            for id in (page - 1) * ITEMS_PER_PAGE + 1..=page * ITEMS_PER_PAGE {
                let look = LOOKS[random.below(LOOKS.len() as u64) as usize];
                let kind = KINDS[random.below(KINDS.len() as u64) as usize];
                let price_cents = 100 + random.below(9_900);
                let json =
                    format!(r#"{{"id":{id},"name":"{look} {kind}","price_cents":{price_cents}}}"#);
                let comma = if list.is_empty() { "" } else { "," };
                // A String takes everything.
                let _ = write!(list, "{comma}{json}");
                items.push(Item { price_cents, json: format!("{json}\n").into_bytes() });
            }
            let text = format!(
                "{{\"page\":{page},\"pages\":{PAGES},\"total\":{ITEMS},\"items\":[{list}]}}\n"
            );
            pages.push(text.into_bytes());
        }
        Self { items, pages }
    }

    /// The item of this number, from 1.
    pub fn item(&self, id: u64) -> Option<&Item> {
        self.items.get(usize::try_from(id.checked_sub(1)?).ok()?)
    }

    /// The page of this number, from 1, as JSON.
    pub fn page(&self, page: u64) -> Option<&[u8]> {
        self.pages.get(usize::try_from(page.checked_sub(1)?).ok()?).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(json: &[u8]) -> serde_json::Value {
        serde_json::from_slice(json).unwrap()
    }

    #[test]
    fn pages_have_every_item_once_and_items_are_as_in_the_list() {
        let catalogue = Catalogue::new(7);
        let mut next = 1;
        for page in 1..=PAGES {
            for listed in parsed(catalogue.page(page).unwrap())["items"].as_array().unwrap() {
                let item = catalogue.item(next).unwrap();
                assert_eq!(listed["id"], next);
                assert_eq!(*listed, parsed(&item.json));
                assert_eq!(listed["price_cents"], item.price_cents);
                next += 1;
            }
        }
        assert_eq!(next, ITEMS + 1);
        for outside in [0, PAGES + 1, u64::MAX] {
            assert_eq!(catalogue.page(outside), None);
        }
        assert!(catalogue.item(0).is_none() && catalogue.item(ITEMS + 1).is_none());
        assert_eq!(Catalogue::new(7).pages, catalogue.pages);
        assert_ne!(Catalogue::new(8).pages, catalogue.pages);
    }
}
