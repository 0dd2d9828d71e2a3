//! Reads each body as the type of its schema: parse_bodies CASES. The test writes `types.rs`.

use serde_json::Value;

include!("types.rs");

fn main() {
    let path = std::env::args().nth(1).expect("the path of the cases");
    let text = std::fs::read_to_string(path).expect("the cases");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
    for one in &cases {
        let name = one["schema"].as_str().expect("the name of a schema");
        if let Err(error) = parse(name, one["body"].clone()) {
            panic!("{}: {error}", one["operation"]);
        }
    }
    println!("{}", cases.len());
}
