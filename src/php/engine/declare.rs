//! Declares classes and functions to the engine: what a C extension generates from its stubs.
//!
//! Of ext-php-rs flags (such as final) and entries are used, but not `ClassBuilder` and `FunctionBuilder`. Their `DataType` has no union
//! and no `static`, and a parameter without a type becomes `mixed`. So does the return type of an interface's method, and PHP then refuses
//! a storage without types ("must be compatible with"). They have neither `#[\SensitiveParameter]` nor `#[\NoDiscard]`.

use ext_php_rs::args::ArgInfo;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi;
use ext_php_rs::flags::{ClassFlags, MethodFlags};
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::{ClassEntry, ExecuteData, FunctionEntry, ZendType};
use std::ffi::CStr;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function that the engine calls for a method. `call.rs` has a macro that makes one.
pub type Handler = unsafe extern "C" fn(*mut ExecuteData, *mut Zval);

/// The engine's entry of a class of this extension, once it is registered.
pub struct Class(AtomicPtr<ClassEntry>);

impl Class {
    /// A class that is not registered yet.
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The entry, or null before the class is registered.
    #[inline]
    pub fn as_ptr(&self) -> *mut ClassEntry {
        self.0.load(Ordering::Relaxed)
    }

    /// The entry.
    #[inline]
    #[allow(clippy::expect_used, reason = "startup registers all classes, or fails")]
    pub fn get(&self) -> &'static ClassEntry {
        // SAFETY: null, or the entry that the engine registered and keeps until after the module's
        // shutdown.
        unsafe { self.as_ptr().as_ref() }.expect("class is registered")
    }
}

/// A type in a signature.
#[derive(Clone, Copy)]
pub struct Type {
    mask: u32,
    class: Option<&'static CStr>,
}

impl Type {
    /// No type declaration.
    pub const NONE: Self = Self { mask: 0, class: None };
    pub const INT: Self = Self::from_code(ffi::IS_LONG);
    pub const FLOAT: Self = Self::from_code(ffi::IS_DOUBLE);
    pub const STRING: Self = Self::from_code(ffi::IS_STRING);
    pub const ARRAY: Self = Self::from_code(ffi::IS_ARRAY);
    pub const VOID: Self = Self::from_code(ffi::IS_VOID);
    pub const STATIC: Self = Self::from_code(ffi::IS_STATIC);
    pub const BOOL: Self = Self { mask: ffi::MAY_BE_BOOL, class: None };

    const fn from_code(code: u32) -> Self {
        Self { mask: 1 << code, class: None }
    }

    /// An object of the class of that name.
    pub const fn object(class: &'static CStr) -> Self {
        Self { mask: 0, class: Some(class) }
    }

    /// A union of two types, of which at most one names a class.
    pub const fn or(self, other: Self) -> Self {
        Self { mask: self.mask | other.mask, class: self.class }
    }

    /// A union of the type and null.
    pub const fn or_null(self) -> Self {
        Self { mask: self.mask | ffi::_ZEND_TYPE_NULLABLE_BIT, class: self.class }
    }

    fn to_zend(self) -> ZendType {
        #[cfg(php83)]
        const NAMED: u32 = ffi::_ZEND_TYPE_LITERAL_NAME_BIT;
        #[cfg(not(php83))]
        const NAMED: u32 = ffi::_ZEND_TYPE_NAME_BIT;
        match self.class {
            None => ZendType { ptr: ptr::null_mut(), type_mask: self.mask },
            Some(name) => {
                ZendType { ptr: name.as_ptr().cast_mut().cast(), type_mask: self.mask | NAMED }
            }
        }
    }
}

/// A parameter of a method.
pub struct Parameter {
    pub name: &'static CStr,
    pub ty: Type,
    /// The default as PHP source; a parameter without one is required.
    pub default: Option<&'static CStr>,
    /// Whether traces hide its argument.
    pub is_sensitive: bool,
    /// Whether it takes all further arguments. Only the last parameter can.
    pub is_variadic: bool,
}

impl Parameter {
    fn to_zend_type(&self) -> ZendType {
        let mut ty = self.ty.to_zend();
        if self.is_variadic {
            ty.type_mask |= ffi::_ZEND_IS_VARIADIC_BIT;
        }
        ty
    }
}

/// A required parameter.
pub const fn required(name: &'static CStr, ty: Type) -> Parameter {
    Parameter { name, ty, default: None, is_sensitive: false, is_variadic: false }
}

/// A parameter with a default.
pub const fn optional(name: &'static CStr, ty: Type, default: &'static CStr) -> Parameter {
    Parameter { name, ty, default: Some(default), is_sensitive: false, is_variadic: false }
}

/// A parameter that takes all further arguments.
pub const fn variadic(name: &'static CStr, ty: Type) -> Parameter {
    Parameter { is_variadic: true, ..required(name, ty) }
}

/// Marks a parameter whose argument may hold a secret: from PHP 8.2 on traces hide it.
pub const fn sensitive(parameter: Parameter) -> Parameter {
    Parameter { is_sensitive: true, ..parameter }
}

/// A method of a class or an interface, or a function.
#[derive(Clone, Copy)]
pub struct Method {
    pub name: &'static CStr,
    /// The function that runs; `None` in an interface.
    pub handler: Option<Handler>,
    pub flags: MethodFlags,
    pub parameters: &'static [Parameter],
    pub returns: Type,
    /// Whether a call that does nothing with the result is a mistake: PHP warns of it from 8.5 on.
    pub is_no_discard: bool,
}

/// Marks a method whose result a caller must use.
pub const fn no_discard(method: Method) -> Method {
    Method { is_no_discard: true, ..method }
}

/// A method with the flags `PROTECTED`, `PRIVATE` or `PUBLIC_STATIC`.
pub const fn method(
    flags: MethodFlags,
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    Method { name, handler: Some(handler), flags, parameters, returns, is_no_discard: false }
}

pub const PROTECTED: MethodFlags = MethodFlags::Protected;
pub const PRIVATE: MethodFlags = MethodFlags::Private;
pub const PUBLIC_STATIC: MethodFlags = MethodFlags::Public.union(MethodFlags::Static);

/// A public method.
pub const fn public(
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    method(MethodFlags::Public, name, handler, parameters, returns)
}

/// A method of an interface.
pub const fn signature(
    name: &'static CStr,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    let flags = MethodFlags::Public.union(MethodFlags::Abstract);
    Method { name, handler: None, flags, parameters, returns, is_no_discard: false }
}

/// A function. Its name begins with its namespace.
pub const fn function(
    name: &'static CStr,
    handler: Handler,
    parameters: &'static [Parameter],
    returns: Type,
) -> Method {
    method(MethodFlags::empty(), name, handler, parameters, returns)
}

/// The engine's table of functions or methods, which lives as long as the process: the engine keeps a pointer to it.
pub fn table(functions: &[Method]) -> *const FunctionEntry {
    let mut table: Vec<FunctionEntry> = functions.iter().map(function_entry).collect();
    table.push(FunctionEntry::end());
    Box::leak(table.into_boxed_slice()).as_ptr()
}

/// Registers a class with its parent, which may be null. At startup only.
pub fn class(
    class: &Class,
    name: &str,
    flags: ClassFlags,
    methods: &[Method],
    parent: *mut ClassEntry,
    interfaces: &[&Class],
) {
    register(class, name, methods, interfaces, |entry| {
        // SAFETY: `entry` is complete, `parent` is null or a registered class, and the module is
        // starting.
        let registered = unsafe { ffi::zend_register_internal_class_ex(entry, parent) };
        // SAFETY: the class was just registered, and no other thread runs during startup.
        unsafe { (*registered).ce_flags |= flags.bits() };
        registered
    });
}

/// Registers an interface. At startup only.
pub fn interface(class: &Class, name: &str, methods: &[Method]) {
    register(class, name, methods, &[], |entry| {
        // SAFETY: `entry` is complete, and the module is starting.
        unsafe { ffi::zend_register_internal_interface(entry) }
    });
}

fn register(
    class: &Class,
    name: &str,
    methods: &[Method],
    interfaces: &[&Class],
    register: impl FnOnce(&mut ClassEntry) -> *mut ClassEntry,
) {
    // SAFETY: a struct of C: numbers, pointers and options of pointers, which may be zero. INIT_CLASS_ENTRY
    // zeroes it, too.
    let mut entry: ClassEntry = unsafe { MaybeUninit::zeroed().assume_init() };
    entry.name = ZendStr::new_interned(name, true).into_raw();
    entry.info.internal.builtin_functions = table(methods);
    class.0.store(register(&mut entry), Ordering::Relaxed);
    #[cfg(php82)]
    for method in methods {
        add_attributes(class, method);
    }
    for interface in interfaces {
        implement(class, interface.as_ptr());
    }
}

/// Adds `#[\SensitiveParameter]` to the parameters of a method that are marked sensitive, and `#[\NoDiscard]` to a method
/// whose result must be used. Before PHP 8.5 that attribute has no class and no effect.
#[cfg(php82)]
fn add_attributes(class: &Class, method: &Method) {
    unsafe extern "C" {
        // ext-php-rs does not bind its header. The signature is the same from PHP 8.0 to 8.6.
        fn zend_add_attribute(
            attributes: *mut *mut ffi::HashTable,
            name: *mut ffi::zend_string,
            arguments: u32,
            flags: u32,
            offset: u32,
            line: u32,
        ) -> *mut std::ffi::c_void;
    }
    /// `ZEND_ATTRIBUTE_PERSISTENT`: the attribute lives as long as the class.
    const PERSISTENT: u32 = 1;
    let name = method.name.to_string_lossy().to_lowercase();
    let parameters = method.parameters.iter().enumerate().filter(|(_, p)| p.is_sensitive);
    // Offset 0 means the function, 1 its first parameter.
    let sensitive = parameters.map(|(index, _)| ("SensitiveParameter", index as u32 + 1));
    let no_discard = method.is_no_discard.then_some(("NoDiscard", 0));
    for (attribute, offset) in sensitive.chain(no_discard.filter(|_| cfg!(php85))) {
        // SAFETY: the class is registered, its functions belong to this extension, and no other
        // thread runs during startup. The name is interned for the life of the process.
        unsafe {
            let found = (*class.as_ptr()).function_table.get(name.as_str());
            let Some(function) = found.and_then(|zval| zval.value.func.as_mut()) else { continue };
            let attribute = ZendStr::new_interned(attribute, true).into_raw();
            let attributes = &raw mut function.common.attributes;
            zend_add_attribute(attributes, attribute, 0, PERSISTENT, offset, 0);
        }
    }
}

/// Declares that a class implements an interface. At startup only.
pub fn implement(class: &Class, interface: *mut ClassEntry) {
    // SAFETY: both are registered, and no other thread runs during startup.
    unsafe { ffi::zend_do_implement_interface(class.as_ptr(), interface) };
}

fn function_entry(method: &Method) -> FunctionEntry {
    let is_required = |p: &&Parameter| p.default.is_none() && !p.is_variadic;
    let required = method.parameters.iter().filter(is_required).count();
    let variadic = method.parameters.iter().filter(|p| p.is_variadic).count();
    let mut info = vec![ArgInfo {
        // The first entry describes the method: its `name` is the number of required parameters.
        name: ptr::without_provenance(required),
        type_: method.returns.to_zend(),
        default_value: ptr::null(),
    }];
    info.extend(method.parameters.iter().map(|parameter| ArgInfo {
        name: parameter.name.as_ptr(),
        type_: parameter.to_zend_type(),
        default_value: parameter.default.map_or(ptr::null(), CStr::as_ptr),
    }));
    let mut flags = method.flags.bits();
    if variadic > 0 {
        flags |= ffi::ZEND_ACC_VARIADIC;
    }
    #[cfg(php85)]
    if method.is_no_discard {
        flags |= ffi::ZEND_ACC_NODISCARD;
    }
    FunctionEntry {
        fname: method.name.as_ptr(),
        handler: method.handler,
        num_args: (method.parameters.len() - variadic) as u32,
        arg_info: Box::leak(info.into_boxed_slice()).as_ptr(),
        #[allow(clippy::useless_conversion, reason = "u64 from PHP 8.6 on")]
        flags: flags.into(),
        #[cfg(php84)]
        doc_comment: ptr::null(),
        #[cfg(php84)]
        frameless_function_infos: ptr::null(),
    }
}

/// Declares a private property of a class, which is null at first. At startup only.
pub fn private_property(class: &Class, name: &str) {
    let mut null = Zval::null();
    // SAFETY: the class is registered; the engine copies the name and the value.
    unsafe {
        ffi::zend_declare_property(
            class.as_ptr(),
            name.as_ptr().cast(),
            name.len(),
            &raw mut null,
            ffi::ZEND_ACC_PRIVATE as _,
        );
    }
}

/// Declares a public constant of a class. At startup only.
pub fn constant(class: &Class, name: &str, value: impl IntoZval) {
    let name = ZendStr::new_interned(name, true);
    let Ok(value) = value.into_zval(true) else { return };
    // The engine takes ownership of the value.
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the class is registered, and name and value live as long as the process.
    unsafe {
        ffi::zend_declare_class_constant_ex(
            class.as_ptr(),
            name.as_ptr().cast_mut(),
            &raw mut *value,
            ffi::ZEND_ACC_PUBLIC as _,
            ptr::null_mut(),
        );
    }
}
