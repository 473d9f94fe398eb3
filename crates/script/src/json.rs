//! `json` and `cjson` for scripts: `encode`, `decode` and `null`, as lua-cjson has them.

use mlua::{Error, LightUserData, Lua, LuaString, MultiValue, Result, Table, Value};
use serde_json::{Map, Number, Value as Json};

/// How deep tables are followed.
const DEPTH_MAX: usize = 1000;

/// The module; `safe` gives `nil` and the message instead of an error.
pub fn module(lua: &Lua, safe: bool) -> Result<Table> {
    let module = lua.create_table()?;
    module.raw_set("null", null())?;
    let encode = move |lua: &Lua, value: Value| {
        let text = encoded(&value, 0).map(|json| json.to_string());
        answer(lua, text.and_then(|text| lua.create_string(text)).map(Value::String), safe)
    };
    let decode = move |lua: &Lua, text: LuaString| {
        let json = serde_json::from_slice(&text.as_bytes()).map_err(Error::external);
        answer(lua, json.and_then(|json: Json| decoded(lua, &json)), safe)
    };
    module.raw_set("encode", lua.create_function(encode)?)?;
    module.raw_set("decode", lua.create_function(decode)?)?;
    Ok(module)
}

/// JSON's `null`: a value of its own, since a table cannot hold `nil`.
fn null() -> Value {
    Value::LightUserData(LightUserData(std::ptr::null_mut()))
}

fn answer(lua: &Lua, result: Result<Value>, safe: bool) -> Result<MultiValue> {
    match result {
        Ok(value) => Ok(MultiValue::from_iter([value])),
        Err(error) if safe => {
            let text = lua.create_string(error.to_string())?;
            Ok(MultiValue::from_iter([Value::Nil, Value::String(text)]))
        }
        Err(error) => Err(Error::runtime(error.to_string())),
    }
}

fn encoded(value: &Value, depth: usize) -> Result<Json> {
    if depth > DEPTH_MAX {
        return Err(Error::runtime("cannot encode: the table is nested too deeply"));
    }
    Ok(match value {
        Value::Nil => Json::Null,
        Value::LightUserData(pointer) if pointer.0.is_null() => Json::Null,
        Value::Boolean(value) => Json::Bool(*value),
        Value::Integer(value) => Json::from(*value),
        Value::Number(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
            Json::from(*value as i64)
        }
        Value::Number(value) => {
            let number = Number::from_f64(*value);
            Json::Number(number.ok_or_else(|| Error::runtime("cannot encode NaN or infinity"))?)
        }
        Value::String(text) => Json::String(text.to_string_lossy()),
        Value::Table(table) => of_table(table, depth)?,
        other => {
            return Err(Error::runtime(format!("cannot encode a {}", other.type_name())));
        }
    })
}

/// A list where the keys are 1 to n, else an object; `{}` for an empty one, as in cjson.
fn of_table(table: &Table, depth: usize) -> Result<Json> {
    let length = table.raw_len();
    let pairs = table.pairs::<Value, Value>().collect::<Result<Vec<_>>>()?;
    if length > 0 && pairs.len() == length {
        let item = |at| encoded(&table.raw_get::<Value>(at)?, depth + 1);
        return (1..=length).map(item).collect::<Result<_>>().map(Json::Array);
    }
    let mut object = Map::new();
    for (key, value) in pairs {
        let key = match &key {
            Value::String(text) => text.to_string_lossy(),
            Value::Integer(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            other => {
                let name = other.type_name();
                return Err(Error::runtime(format!("cannot encode: a key is a {name}")));
            }
        };
        object.insert(key, encoded(&value, depth + 1)?);
    }
    Ok(Json::Object(object))
}

fn decoded(lua: &Lua, json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Null => null(),
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Value::String(lua.create_string(text)?),
        Json::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (at, item) in items.iter().enumerate() {
                table.raw_set(at + 1, decoded(lua, item)?)?;
            }
            Value::Table(table)
        }
        Json::Object(fields) => {
            let table = lua.create_table_with_capacity(0, fields.len())?;
            for (name, value) in fields {
                table.raw_set(lua.create_string(name)?, decoded(lua, value)?)?;
            }
            Value::Table(table)
        }
    })
}
